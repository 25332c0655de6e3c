import { existsSync } from 'node:fs';
import { defineConfig } from '@playwright/test';

/** The system's Chromium, without anything that reaches out of this computer. `CHROMIUM` names another. */
const path = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

export const chromium = defineConfig({
  use: {
    browserName: 'chromium',
    launchOptions: {
      ...(existsSync(path) ? { executablePath: path } : {}),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
}).use!;
