import tailwindcss from '@tailwindcss/vite';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { finish } from './scripts/finish.ts';

/** The server for `npm run dev`: start one with `moothall serve` and put its address here. */
const server = process.env['MOOTHALL_URL'] ?? 'http://127.0.0.1:5111';
const routes = [
  '/ping',
  '/session',
  '/channels',
  '/pairings',
  '/usage',
  '/guards',
  '/states',
  '/needs',
  '/budgets',
  '/tokens',
  '/healthz',
  '/start',
  '/agents',
  '/threads',
  '/gatherings',
  '/turns',
  '/sessions',
  '/folders',
  '/links',
  '/permissions',
  '/commands',
  '/events',
  '/search',
  '/openapi.json',
  '/openrpc.json',
  '/docs',
];

/**
 * Returns the rules of the development proxy. The server accepts only its own name in Host and
 * Origin, so the proxy sends that name.
 */
function proxied() {
  const headers = { origin: server };
  return Object.fromEntries(routes.map((route) => [route, { target: server, changeOrigin: true, headers }]));
}

export default defineConfig({
  plugins: [svelte(), tailwindcss(), finish()],
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // What several parts of the page use is one file, because each file is a request of the first
    // visit. Colours of code come only with code.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [{ name: 'common', minShareCount: 2, test: (id) => !id.includes('highlight.js') }],
        },
      },
    },
  },
  server: { proxy: proxied() },
  // Without this condition, tests would load Svelte's build for servers.
  resolve: process.env['VITEST'] ? { conditions: ['browser'] } : {},
  // Parsing is slow in jsdom. A busy computer needs more than the usual 5 s.
  test: { include: ['src/**/*.test.ts', 'scripts/**/*.test.ts'], environment: 'jsdom', testTimeout: 60_000 },
});
