import { test } from '@playwright/test';
import { Server } from '../server';

test('smoke', async ({ page }) => {
  const server = new Server();
  await server.start();
  page.on('console', (m) => console.log('console', m.type(), m.text()));
  page.on('pageerror', (e) => console.log('pageerror', e.message, e.stack));
  try {
    await page.setViewportSize({ width: 1360, height: 820 });
    await page.goto(server.url + '/');
    await page.waitForTimeout(1500);
    await page.screenshot({ path: '../target/screens/smoke-1.png' });
    await page.getByRole('button', { name: /Start.*second opinion/ }).click();
    await page.waitForTimeout(2500);
    await page.screenshot({ path: '../target/screens/smoke-2.png' });
    await page.getByRole('textbox', { name: 'Message' }).or(page.getByRole('combobox', { name: 'Message' })).fill('Is that fair, @wri');
    await page.keyboard.press('End');
    await page.waitForTimeout(500);
    await page.screenshot({ path: '../target/screens/smoke-3.png' });
  } finally {
    await server.stop();
  }
});
