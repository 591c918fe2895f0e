// What a node stores of finality (finality.md#notes, #voter-sets-as-state): damage is told from what it was.
import t from 'tap';
import { concat } from '../../src/base/bytes.ts';
import { DIGEST_BYTES } from '../../src/base/sizes.ts';
import { CodecError } from '../../src/codec/codec.ts';
import { decodeNote, encodeNote, FIRST_NOTE, type Note } from '../../src/finality/note-file.ts';
import { VOTERS_MAX } from '../../src/finality/votes/vote.ts';
import { decodeVoterSets, encodeVoterSets } from '../../src/finality/votes/voter-sets-bytes.ts';
import { accounts, setOf } from './network/toy-chain.ts';
import { ToyEngine, voteOf } from './toy-engine.ts';
import { scheme } from './vectors.ts';

const toy = new ToyEngine(setOf(1, 2, 3, 4));
const block = toy.tracked(toy.follow(toy.block(toy.root)));
const vote = voteOf(1, block, toy.root);
const owner = { genesis: toy.root.id, voter: accounts[0]!.publicKey };
const note: Note = { link: { source: vote.source.height, target: vote.target.height }, vote };
const FLAG_AT = 1 + DIGEST_BYTES + owner.voter.length + 8;

/** With this change, and a checksum that fits it. */
function changed(of: Note, at: number, to: number): Uint8Array {
  const body = encodeNote(of, owner, scheme).subarray(0, -DIGEST_BYTES);
  body[at] = to;
  return concat(body, scheme.fastHash(body));
}

const read = (bytes: Uint8Array) => decodeNote(bytes, owner, scheme);

t.test('notes', async (t) => {
  t.strictSame(read(encodeNote(note, owner, scheme)), note);
  t.strictSame(read(changed(FIRST_NOTE, 0, 1)), FIRST_NOTE, 'the change alone does no harm');
  t.throws(() => read(changed(FIRST_NOTE, 0, 2)), /version 2 is unknown/);
  t.throws(() => read(changed(FIRST_NOTE, FLAG_AT, 2)), /flag 2/);
  t.throws(() => read(new Uint8Array(DIGEST_BYTES - 1)), /its checksum is wrong/);
  const { source, target } = note.link;
  for (const link of [
    { source: source + 1, target },
    { source, target: target + 1 },
  ]) {
    t.throws(() => read(encodeNote({ link, vote }, owner, scheme)), /its vote is another one/);
  }
  for (const other of [
    { ...owner, genesis: block.checkpoint.id },
    { ...owner, voter: accounts[1]!.publicKey },
  ]) {
    t.throws(() => decodeNote(changed(FIRST_NOTE, 0, 1), other, scheme), /it is of another/);
  }
});

t.test('voter sets', async (t) => {
  const sets = { change: 3, current: setOf(1, 2), next: { since: 7, voters: setOf(2, 3) } };
  const bytes = encodeVoterSets(sets, scheme);
  const decode = (all: Uint8Array) => decodeVoterSets(all, scheme);
  t.strictSame(encodeVoterSets(decode(bytes), scheme), bytes);
  const keys = (count: number, ...all: readonly Uint8Array[]) =>
    concat(new Uint8Array(4), Uint8Array.of(count >> 8, count & 255), ...all, Uint8Array.of(0));
  const [low, high] = setOf(1, 2).keys as [Uint8Array, Uint8Array];
  t.same(decode(keys(2, low, high)).current.keys, [low, high]);
  t.throws(() => decode(keys(2, high, low)), /addresses do not ascend/);
  t.throws(() => decode(keys(2, low, low)), /addresses do not ascend/);
  t.throws(() => decode(keys(0)), /0 voters/);
  const many = Array.from({ length: VOTERS_MAX + 1 }, () => low);
  t.throws(() => decode(keys(many.length, ...many)), new RegExp(`${many.length} voters`));
  const flag = keys(1, low);
  flag[flag.length - 1] = 2;
  t.throws(() => decode(flag), CodecError);
  t.throws(() => decode(concat(flag, new Uint8Array(4), keys(1, low).subarray(4, -1))), /flag 2/);
});
