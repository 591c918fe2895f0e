// A signer that notes a block and whose answer is lost: it signs no other block of that turn, so the node asks for
// the same one again, in this life and the next.
import t, { type Test } from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { apiError } from '../../src/base/errors.ts';
import type { Journal } from '../../src/base/ports/journal.ts';
import type { KeyHolder } from '../../src/base/signer/signing.ts';
import type { UnsignedHeader } from '../../src/block/header.ts';
import { CodecError } from '../../src/codec/codec.ts';
import { readRecord } from '../../src/miner/slot-records.ts';
import { UsedSlots } from '../../src/miner/used-slots.ts';
import { blockNoteFrom } from '../../src/signer/block-note.ts';
import { Signer } from '../../src/signer/signer.ts';
import { seededRandom } from '../crypto/random.ts';
import { family } from '../family.ts';
import { silent } from '../finality/schedule.ts';
import { GENESIS_TIME, ROUND_MS, type WholeNode, wholeNode } from '../node/in-process.ts';
import { emptyRecords, memoryJournal } from '../node/memory-ports.ts';

type Line = 'whole' | 'late' | 'cut' | 'refuses';

const turnsOf = {
  poa: ({ timestamp }: Turn) => `round ${Math.floor((timestamp - GENESIS_TIME) / ROUND_MS)}`,
  pos: ({ reference }: Turn) => `child of ${base58.encode(reference)}`,
};
type Turn = Pick<UnsignedHeader, 'timestamp' | 'reference'>;

/** A node without keys, and a signer whose notes outlive the node. */
async function nodeWithSigner(t: Test, consensus: 'poa' | 'pos') {
  const random = seededRandom('a signer');
  /** `late`: the signer signs, and its answer is lost; `cut`: it hears nothing; `refuses`: and says so. */
  const line: { is: Line } = { is: 'whole' };
  const asked: string[] = [];
  const signerClock = { behindMs: 0 };
  const disk = { isFull: false };
  let holder: KeyHolder | undefined;
  const whole = await wholeNode(t, {
    consensus,
    around({ ownerKey, ...ports }) {
      const { scheme, clock } = ports;
      const publicKey = family.publicKeyOf(ownerKey!);
      const address = scheme.addressOf(publicKey);
      const noDisk = { replace: async () => {} };
      const signer = new Signer(
        {
          genesis: new Uint8Array(32),
          consensus: new Uint8Array(32),
          owner: { address, publicKey },
          types: new Set(),
        },
        { blocks: blockNoteFrom(0), votes: undefined, blockDisk: noDisk, voteDisk: noDisk },
        {
          scheme,
          clock: { now: () => clock.now() - signerClock.behindMs },
          log: silent,
          consensus: { turnOf: turnsOf[consensus] },
          readStatus: () => {
            throw new CodecError('status', 'none');
          },
          keys: {
            publicKeys: () => [publicKey],
            publicKey: () => publicKey,
            sign: (_of, _password, message) => family.sign(ownerKey!, message, random),
          },
        },
      );
      holder ??= {
        publicKeyOf: () => publicKey,
        problem: () => undefined,
        async sign(kind, of, message) {
          if (kind === 'block') asked.push(base58.encode(scheme.fastHash(message)));
          if (line.is === 'cut') throw apiError('SignerAway');
          if (line.is === 'refuses') throw apiError('SignerRefused', 'its clock is behind');
          const answer = await signer.sign({ kind, address: of, message, password: '' });
          if (line.is === 'late') throw apiError('SignerAway');
          if ('signature' in answer) return answer.signature;
          throw apiError('SignerRefused', 'refused' in answer ? answer.refused : 'no key');
        },
      };
      const turns: Journal = {
        ...ports.turns,
        append: (record) =>
          disk.isFull ? Promise.reject(new Error('EIO')) : ports.turns.append(record),
      };
      return { ...ports, turns, keyHolder: holder };
    },
  });
  return { whole, line, asked, signerClock, disk };
}

const tip = ({ node }: WholeNode) => node.blockchain.tip();

async function until(whole: WholeNode, holds: () => boolean): Promise<void> {
  for (let i = 0; i < 2_000 && !holds(); i++) {
    await whole.clock.advance(100);
    await whole.node.blockchain.idle();
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (!holds()) throw new Error('it does not come');
}

for (const consensus of ['poa', 'pos'] as const) {
  for (const how of ['late', 'cut'] as const) {
    t.test(`${consensus}: the answer of a signer is lost (${how})`, async (t) => {
      const { whole, line, asked } = await nodeWithSigner(t, consensus);
      await until(whole, () => tip(whole).height === 3);
      const before = asked.length;
      line.is = how;
      await until(whole, () => asked.length >= before + 3);
      t.equal(tip(whole).height, 3);
      line.is = 'whole';
      await until(whole, () => tip(whole).height >= 6);
      if (consensus === 'pos') t.equal(new Set(asked).size, tip(whole).height - 1, 'one for each');
    });

    t.test(`${consensus}: and then the node ends (${how})`, async (t) => {
      const { whole, line, asked } = await nodeWithSigner(t, consensus);
      await until(whole, () => tip(whole).height === 3);
      const before = asked.length;
      line.is = how;
      await until(whole, () => asked.length > before);
      await whole.stop();
      line.is = 'whole';
      const next = await whole.restart();
      await until(next, () => tip(next).height >= 6);
      if (consensus === 'pos') t.equal(asked[before + 1], asked[before], 'the same bytes');
    });
  }
}

t.test('poa: after its round a block is not asked for', async (t) => {
  const { whole, line, asked } = await nodeWithSigner(t, 'poa');
  await until(whole, () => tip(whole).height === 3);
  const before = asked.length;
  line.is = 'late';
  await until(whole, () => asked.length > before);
  await whole.stop();
  line.is = 'whole';
  await whole.clock.advance(2 * ROUND_MS);
  const next = await whole.restart();
  await until(next, () => tip(next).height >= 4);
  t.notOk(asked.slice(before + 1).includes(asked[before]!));
});

t.test('a block that is refused at once: another one is made, a second later', async (t) => {
  const { whole, line, asked } = await nodeWithSigner(t, 'pos');
  await until(whole, () => tip(whole).height === 3);
  const before = asked.length;
  line.is = 'refuses';
  await until(whole, () => asked.length > before);
  await whole.clock.advance(30_000);
  const refused = asked.slice(before);
  t.ok(refused.length > 20 && refused.length < 35, `${refused.length} questions in 30 s`);
  t.equal(new Set(refused).size, refused.length);
  line.is = 'whole';
  await until(whole, () => tip(whole).height >= 6);
});

t.test('a signer that has noted a block and refuses it for a while', async (t) => {
  const { whole, line, asked } = await nodeWithSigner(t, 'pos');
  await until(whole, () => tip(whole).height === 3);
  const before = asked.length;
  line.is = 'late';
  await until(whole, () => asked.length > before);
  line.is = 'refuses';
  await whole.clock.advance(30_000);
  t.equal(tip(whole).height, 3);
  t.strictSame(new Set(asked.slice(before)).size, 1, 'nothing else is asked for');
  line.is = 'whole';
  await until(whole, () => tip(whole).height >= 6);
});

t.test('the clock of the signer is behind: what it has signed it gives again', async (t) => {
  const { whole, line, signerClock } = await nodeWithSigner(t, 'pos');
  await until(whole, () => tip(whole).height === 3);
  line.is = 'late';
  await whole.clock.advance(30_000);
  signerClock.behindMs = 1_000_000;
  line.is = 'whole';
  await until(whole, () => tip(whole).height === 4);
});

t.test('the clock of the node is set back while a signature is awaited', async (t) => {
  const { whole, line, asked } = await nodeWithSigner(t, 'pos');
  await until(whole, () => tip(whole).height === 3);
  await whole.stop();
  await whole.clock.advance(60_000);
  const before = asked.length;
  line.is = 'late';
  const next = await whole.restart();
  await until(next, () => asked.length > before);
  line.is = 'whole';
  next.clock.jump(-5_037);
  await next.clock.advance(4_500);
  t.equal(tip(next).height, 3, 'it waits for the time of its block');
  await until(next, () => tip(next).height >= 6);
  t.equal(asked[before + 1], asked[before]);
});

t.test('a disk that takes no record: the same block, once a second', async (t) => {
  const { whole, disk, asked } = await nodeWithSigner(t, 'pos');
  await until(whole, () => tip(whole).height === 3);
  const before = asked.length;
  disk.isFull = true;
  await whole.clock.advance(60_000);
  const tries = whole.log.of('miner.note-failed').length;
  t.ok(tries > 20 && tries < 70, `${tries} tries in 60 s`);
  t.equal(asked.length, before, 'nothing is asked for that is not on disk');
  disk.isFull = false;
  await until(whole, () => tip(whole).height >= 6);
});

t.test('what is asked for is on disk, and is no turn that is used', async (t) => {
  const records = emptyRecords();
  const first = new UsedSlots(memoryJournal(records), silent);
  const block = Uint8Array.of(1, 2, 3);
  await first.ask('child of X', block);
  block.fill(0);
  t.same(readRecord(records.list[0]!), { kind: 'asked', turn: 'child of X', bytes: [1, 2, 3] });
  const second = new UsedSlots(memoryJournal(records), silent);
  t.notOk(second.has('child of X'));
  t.same(second.asked()?.bytes, [1, 2, 3]);
  await second.ask('child of X', Uint8Array.of(1, 2, 3));
  t.equal(records.list.length, 1, 'the same block is recorded once');
  await second.claim('child of X', Uint8Array.of(1, 2, 4));
  t.equal(second.asked(), undefined);
  t.equal(new UsedSlots(memoryJournal(records), silent).asked(), undefined);
  await t.rejects(second.ask('child of X', Uint8Array.of(5)), /has used its turn/);
  await second.ask('child of Y', Uint8Array.of(5));
  await second.giveUp('child of Y');
  t.equal(second.asked(), undefined);
  await t.rejects(second.ask('child of Y', Uint8Array.of(5)), /has used its turn/);
});

t.test('a file that is written anew keeps what was asked for', async (t) => {
  const records = emptyRecords();
  const turns = new UsedSlots(memoryJournal(records), silent);
  await turns.ask('child of X', Uint8Array.of(7));
  let longest = 0;
  for (let i = 0; records.list.length >= longest; i++) {
    longest = records.list.length;
    await turns.claim(`round ${i}`, Uint8Array.of(1));
  }
  const later = new UsedSlots(memoryJournal(records), silent);
  t.same(later.asked(), { turn: 'child of X', bytes: [7] });
});
