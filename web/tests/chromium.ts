import { existsSync } from 'node:fs';
import { defineConfig } from '@playwright/test';

/** The system's Chromium, without requests to other computers. `CHROMIUM` names another binary. */
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
