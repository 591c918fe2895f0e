/** With SCREENSHOTS=<folder> tests keep pictures of the pages that they open. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from './browser.ts';

const folder = process.env['SCREENSHOTS'];

export async function keepPicture(page: Page, name: string): Promise<void> {
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.png`), await page.screenshot());
}
