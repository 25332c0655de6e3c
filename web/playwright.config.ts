import { defineConfig } from '@playwright/test';
import { chromium } from './tests/chromium';

export default defineConfig({
  testDir: 'tests/e2e',
  outputDir: '../target/web-tests',
  fullyParallel: true,
  workers: 2,
  // Faster and slower machines meet moments that no test expects. A test that needs a retry is
  // printed as flaky.
  retries: 2,
  forbidOnly: process.env['CI'] === 'true',
  // Pictures are compared, and written only on request: `npm run pictures`.
  updateSnapshots: 'none',
  snapshotPathTemplate: 'tests/pictures/{arg}{ext}',
  // Limits that only a real fault reaches, also on two busy cores.
  timeout: 120_000,
  expect: { timeout: 60_000 },
  reporter: [['list']],
  // A trace takes time on a busy machine, so it is recorded only on request.
  use: { ...chromium, trace: process.env['TRACE'] ? 'retain-on-failure' : 'off' },
});
