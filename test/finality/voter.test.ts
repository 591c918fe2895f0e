// The note of a voter, on disk and in use (finality.md#notes).
import t from 'tap';
import { apiError } from '../../src/base/errors.ts';
import { StartError } from '../../src/base/faults/start-error.ts';
import type { Sign } from '../../src/base/signer/signing.ts';
import {
  decodeNote,
  encodeNote,
  FIRST_NOTE,
  type Note,
  readNote,
} from '../../src/finality/note-file.ts';
import { rules } from '../../src/finality/rules.ts';
import type { TrackedBlock } from '../../src/finality/tracked-block.ts';
import { Voter } from '../../src/finality/voter.ts';
import { type SignedVote, voteBytes } from '../../src/finality/votes/vote.ts';
import { decidingOn } from '../../src/finality/votes/voter-set.ts';
import { family } from '../family.ts';
import { Dice } from '../system/sim/random.ts';
import { nodeClock, World } from '../system/sim/world.ts';
import { accounts, setOf } from './network/toy-chain.ts';
import { silent } from './schedule.ts';
import { ROUND_MS, ToyEngine, voteOf } from './toy-engine.ts';
import { scheme } from './vectors.ts';

const toy = new ToyEngine(setOf(1, 2, 3, 4));
const { publicKey, privateKey } = accounts[1]!;
const owner = { genesis: toy.root.id, voter: publicKey };
const dice = new Dice(5);
const [a, b] = [toy.block(toy.root), toy.block(toy.root)];
const c = toy.block(a);

const noteOf = (vote: SignedVote): Note => ({
  link: { source: vote.source.height, target: vote.target.height },
  vote,
});

t.test('bytes of a note', async (t) => {
  const note = noteOf(voteOf(2, toy.tracked(a), toy.root));
  for (const one of [note, FIRST_NOTE, { link: { source: 5, target: 6 }, vote: undefined }]) {
    t.strictSame(decodeNote(encodeNote(one, owner, scheme), owner, scheme), one);
  }
  const bytes = encodeNote(note, owner, scheme);
  for (let at = 0; at < bytes.length; at += 7) {
    const damaged = bytes.slice();
    damaged[at]! ^= 1;
    t.throws(() => decodeNote(damaged, owner, scheme), `byte ${at}`);
  }
  const refused = [
    [{ read: () => bytes.subarray(1) }, owner, /checksum/],
    [{ read: () => bytes }, { ...owner, genesis: a.id }, /another network/],
    [{ read: () => bytes }, { ...owner, voter: accounts[2]!.publicKey }, /another key/],
  ] as const;
  for (const [disk, by, why] of refused) {
    t.throws(() => readNote(disk, '/data/vote.note', by, scheme), StartError);
    t.throws(() => readNote(disk, '/data/vote.note', by, scheme), why);
  }
  t.equal(readNote({ read: () => undefined }, '', owner, scheme), undefined);
});

/** A voter whose disk waits until it is told to go on. */
const signNow: Sign = (message) => family.sign(privateKey, message, dice);

function life(note: Note | undefined, finalAtStart = 1, sign = signNow) {
  const world = new World(1_000_000);
  const sent: SignedVote[] = [];
  const errors: string[] = [];
  const disk = { bytes: [] as (Uint8Array | undefined)[], fails: false, isSlow: false };
  let release = (): void => {};
  const write = async (bytes: Uint8Array | undefined): Promise<void> => {
    if (disk.fails) throw new Error('the disk is full');
    if (disk.isSlow)
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    disk.bytes.push(bytes);
  };
  const voter = new Voter(
    note,
    { ...owner, maxRollback: 2, roundMs: ROUND_MS },
    {
      scheme,
      clock: nodeClock(world, 0),
      log: { ...silent, error: (event) => void errors.push(event) },
      rules,
      disk: { read: () => undefined, replace: write, remove: () => write(undefined) },
      sign,
      deciding: ({ deciding }) => decidingOn(deciding, scheme),
      finalHeightAt: () => finalAtStart,
      send: (vote) => void sent.push(vote),
    },
  );
  const settle = (ms = 1) => world.runUntil(world.now + ms);
  return { voter, sent, errors, disk, settle, release: () => release() };
}

const targets = (votes: readonly SignedVote[]) => votes.map(({ target }) => target.height);
const tracked = (block: typeof a): TrackedBlock => toy.tracked(block);

t.test('it listens for a round, and then votes for its head', async (t) => {
  const { voter, sent, errors, settle } = life(FIRST_NOTE);
  voter.head(tracked(a));
  await settle();
  t.equal(voter.state(), 'listening');
  t.strictSame(sent, []);
  await settle(ROUND_MS);
  t.strictSame(targets(sent), [2]);
  const [vote] = sent;
  t.ok(scheme.verify(publicKey, voteBytes(vote!, scheme), vote!.signature));
  voter.head(tracked(b));
  await settle();
  t.equal(sent.length, 1, 'not twice at one height');
  t.strictSame(errors, []);
  voter.head(tracked(c));
  await settle();
  t.strictSame(targets(voter.repeated(2)), [3], 'until its height is final');
});

t.test('a vote is sent once its note is on disk', async (t) => {
  const { voter, sent, disk, settle, release } = life(FIRST_NOTE);
  await settle(ROUND_MS + 1);
  disk.isSlow = true;
  voter.head(tracked(a));
  await settle();
  voter.head(tracked(b));
  t.strictSame(sent, []);
  release();
  await settle();
  t.strictSame(targets(sent), [2]);
  t.strictSame(decodeNote(disk.bytes[0]!, owner, scheme).vote, sent[0]);
});

t.test('what the disk may have binds the voter', async (t) => {
  const { voter, sent, disk, settle } = life(FIRST_NOTE);
  await settle(ROUND_MS + 1);
  disk.fails = true;
  voter.head(tracked(a));
  await settle();
  t.equal(voter.state(), 'note-not-written');
  disk.fails = false;
  voter.head(tracked(b));
  await settle();
  t.strictSame(
    sent.map(({ target }) => target.id),
    [a.id],
  );
});

t.test('a signer that is away is asked again, and one that is slow binds nobody', async (t) => {
  const signer = { isAway: true, asked: [] as ((bytes: Uint8Array) => void)[] };
  const { voter, sent, disk, settle } = life(FIRST_NOTE, 1, (message) => {
    if (signer.isAway) return Promise.reject(apiError('SignerAway'));
    return new Promise((resolve) => {
      signer.asked.push(() => resolve(signNow(message) as Uint8Array));
    });
  });
  await settle(ROUND_MS + 1);
  voter.head(tracked(a));
  await settle();
  t.equal(voter.state(), 'not-signed');
  t.strictSame(disk.bytes, [], 'nothing binds');
  signer.isAway = false;
  voter.round();
  await settle();
  t.equal(signer.asked.length, 1);
  voter.seen(voteOf(2, tracked(c), toy.root));
  signer.asked[0]!(publicKey);
  await settle();
  t.strictSame(sent, [], 'its note has become another one meanwhile');
  t.equal(voter.state(), 'without-note');
});

t.test('an error of the signer that is none of its refusals is told', async (t) => {
  const fault: Sign = () => Promise.reject(new Error('a fault of this program'));
  const { voter, sent, errors, settle } = life(FIRST_NOTE, 1, fault);
  await settle(ROUND_MS + 1);
  voter.head(tracked(a));
  await settle();
  t.strictSame(errors, ['finality.note-failed']);
  t.not(voter.state(), 'not-signed');
  t.strictSame(sent, []);
});

t.test('a signature that comes later', async (t) => {
  const late: Sign = async (message) => signNow(message);
  const { voter, sent, disk, settle } = life(FIRST_NOTE, 1, late);
  await settle(ROUND_MS + 1);
  voter.head(tracked(a));
  voter.head(tracked(c));
  await settle();
  t.strictSame(targets(sent), [2, 3]);
  t.equal(disk.bytes.length, 2, 'each after its note');
  t.equal(voter.state(), 'voting');
});

t.test('over a restart', async (t) => {
  const vote = voteOf(2, tracked(a), toy.root);
  const { voter, sent, settle } = life(noteOf(vote));
  t.strictSame(voter.repeated(1), [vote], 'the last vote is sent again');
  await settle(ROUND_MS + 1);
  voter.head(tracked(b));
  await settle();
  t.strictSame(sent, []);
});

t.test('without a note it waits for a final block that is younger', async (t) => {
  const { voter, sent, disk, settle } = life(undefined, 3);
  await settle(ROUND_MS + 1);
  voter.head(tracked(c));
  voter.final(7);
  await settle();
  t.equal(voter.state(), 'without-note');
  t.strictSame([sent, disk.bytes], [[], []]);
  voter.final(8);
  await settle();
  t.equal(voter.state(), 'voting');
  t.strictSame(decodeNote(disk.bytes[0]!, owner, scheme).link, { source: 8, target: 9 });
  t.strictSame(sent, [], 'block 3 is below');
});

t.test('an own vote that the note lacks', async (t) => {
  const vote = voteOf(2, tracked(a), toy.root);
  const { voter, disk, settle } = life(noteOf(vote));
  await settle(ROUND_MS + 1);
  voter.seen(vote);
  t.equal(voter.state(), 'voting');
  voter.seen(voteOf(2, tracked(b), toy.root));
  await settle();
  t.equal(voter.state(), 'without-note');
  t.strictSame(disk.bytes, [undefined], 'the note is removed');
  const next = life(noteOf(vote));
  next.voter.seen(voteOf(2, tracked(c), toy.root));
  t.equal(next.voter.state(), 'without-note');
});
