// The note of a key that was made before its network had a first block (finality.md#notes).
import t from 'tap';
import { encodeNote, FIRST_NOTE } from '../../../src/finality/note-file.ts';
import { noteOfNewKey, openNote, readVoterNote } from '../../../src/node/finality/voter-note.ts';
import { miners, scheme } from '../../chain/chain-harness.ts';
import { memoryFiles } from '../../keystore/sample.ts';

const PATH = '/node/finality-note';
const genesis = new Uint8Array(32).fill(7);
const [{ publicKey: voter }, { publicKey: another }] = [miners[0]!, miners[1]!];
const owner = { genesis, voter };

t.test('it is that of a key that has never voted, in whatever network', async (t) => {
  const files = memoryFiles();
  const bytes = noteOfNewKey(voter, scheme);
  files.replace(PATH, bytes);
  t.strictSame(readVoterNote(files, PATH, owner, scheme), FIRST_NOTE);
  const { note, disk } = openNote(files, PATH, owner, scheme, false);
  t.strictSame(note, FIRST_NOTE);
  const voted = { link: { source: 4, target: 5 }, vote: undefined };
  await disk.replace(encodeNote(voted, owner, scheme));
  t.strictSame(readVoterNote(files, PATH, owner, scheme), voted, 'from then on it is of one');
});

t.test('it is of one key', (t) => {
  const files = memoryFiles();
  files.replace(PATH, noteOfNewKey(another, scheme));
  t.throws(() => readVoterNote(files, PATH, owner, scheme), /another key; move it away/);
  t.end();
});

t.test('in a network that is made anew with its keys no note counts as lost', (t) => {
  const files = memoryFiles();
  const before = { genesis: new Uint8Array(32).fill(8), voter };
  const bytes = encodeNote({ link: { source: 4, target: 5 }, vote: undefined }, before, scheme);
  files.replace(PATH, bytes);
  t.throws(() => readVoterNote(files, PATH, owner, scheme), /another network; .*finality init/);
  bytes[bytes.length - 1]! ^= 1;
  files.replace(PATH, bytes);
  t.throws(() => readVoterNote(files, PATH, owner, scheme), /replace it by an empty file/);
  t.end();
});

t.test('a vote without a network is none', (t) => {
  const files = memoryFiles();
  const nowhere = { genesis: new Uint8Array(32), voter };
  const voted = { link: { source: 4, target: 5 }, vote: undefined };
  files.replace(PATH, encodeNote(voted, nowhere, scheme));
  t.throws(() => readVoterNote(files, PATH, owner, scheme), /note of the voter/);
  t.end();
});
