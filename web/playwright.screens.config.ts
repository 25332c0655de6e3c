import { defineConfig } from '@playwright/test';
import { chromium } from './tests/chromium';

/** Renders every main state to `target/screens/`, for people to look at. */
export default defineConfig({
  testDir: 'tests/screens',
  outputDir: '../target/web-screens',
  fullyParallel: true,
  workers: 2,
  timeout: 120_000,
  expect: { timeout: 20_000 },
  reporter: [['list']],
  use: chromium,
});
