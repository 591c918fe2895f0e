// Root opens the journals of another user, who may have put a link in their place.
import {
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openFile } from '../../src/adapters/journal-opening.ts';

const USER = 54_321;
const skip = process.getuid?.() !== 0 && 'this needs root';

t.test('a journal of root in a folder of another user', { skip }, async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'journal-owner-'));
  t.teardown(() => rmSync(root, { recursive: true }));
  const folder = join(root, 'data');
  mkdirSync(folder);
  chownSync(folder, USER, USER);
  openFile(join(folder, 'pool.journal'));
  t.equal(lstatSync(join(folder, 'pool.journal')).uid, USER, 'belongs to that user');

  const outside = join(root, 'preload');
  const link = join(folder, 'turns.journal');
  symlinkSync(outside, link);
  t.equal(lstatSync(link).uid, 0);
  openFile(link);
  t.not(lstatSync(outside, { throwIfNoEntry: false })?.uid, USER, 'what a link names does not');
  rmSync(outside, { force: true });

  const foreign = join(folder, 'other.journal');
  symlinkSync(outside, foreign);
  lchownSync(foreign, USER, USER);
  t.throws(() => openFile(foreign), /is a link of another user/);
  t.equal(lstatSync(outside, { throwIfNoEntry: false }), undefined, 'nothing was made there');
});
