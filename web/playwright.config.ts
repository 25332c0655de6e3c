import { defineConfig } from '@playwright/test';
import { chromium } from './tests/chromium';

export default defineConfig({
  testDir: 'tests/e2e',
  outputDir: '../target/web-tests',
  fullyParallel: true,
  workers: 2,
  // Machines of other speeds find moments that no test expects; one that needs another run is printed as flaky.
  retries: 2,
  forbidOnly: process.env['CI'] === 'true',
  // Bounds that only something broken reaches, also where two cores do much else.
  timeout: 120_000,
  expect: { timeout: 60_000 },
  reporter: [['list']],
  // A trace takes time on a busy machine, so it is recorded where somebody asks for it.
  use: { ...chromium, trace: process.env['TRACE'] ? 'retain-on-failure' : 'off' },
});
