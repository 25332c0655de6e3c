import { defineConfig } from '@playwright/test';
import { chromium } from './tests/chromium';

export default defineConfig({
  testDir: 'tests/e2e',
  outputDir: '../target/web-tests',
  fullyParallel: true,
  workers: 2,
  timeout: 30_000,
  expect: { timeout: 8_000 },
  reporter: [['list']],
  use: { ...chromium, trace: 'retain-on-failure' },
});
