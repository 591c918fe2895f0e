/** A flipped bit in the file of a store. */
import { readFileSync, writeFileSync } from 'node:fs';
import { checkFile } from '../../../src/adapters/lmdb/check.ts';
import { tables } from '../../../src/ledger/tables.ts';

/** Flips a bit of these bytes where they stand in a row: of older copies nothing depends on them. */
export async function flipIn(path: string, bytes: Uint8Array): Promise<void> {
  const content = readFileSync(path);
  for (let at = content.indexOf(bytes); at >= 0; at = content.indexOf(bytes, at + 1)) {
    const flipped = Buffer.from(content);
    flipped[at] = flipped[at]! ^ 1;
    writeFileSync(path, flipped);
    if ((await checkFile(path, tables)).kind === 'damaged') return;
  }
  throw new Error('the bytes stand in no row');
}
