// What a signer signs, and what it never signs twice (docs/protocol/signer.md).
import { join } from 'node:path';
import t from 'tap';
import { files } from '../../src/adapters/files.ts';
import { systemRandom } from '../../src/adapters/system.ts';
import { concat, utf8 } from '../../src/base/bytes.ts';
import { StartError } from '../../src/base/faults/start-error.ts';
import type { SignedKind } from '../../src/base/signer/signing.ts';
import { unsealedBlock } from '../../src/block/block.ts';
import type { UnsignedHeader } from '../../src/block/header.ts';
import { turnBytes } from '../../src/block/turn-claims.ts';
import { CodecError } from '../../src/codec/codec.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import { encodeNote, FIRST_NOTE, type NoteDisk, readNote } from '../../src/finality/note-file.ts';
import { type Vote, voteBytes } from '../../src/finality/votes/vote.ts';
import { noteDisk } from '../../src/node/finality/voter-note.ts';
import { blockNoteFrom, encodeBlockNote, readBlockNote } from '../../src/signer/block-note.ts';
import { Signer } from '../../src/signer/signer.ts';
import { type Answer, decodeQuestion, encodeQuestion } from '../../src/signer/signer-messages.ts';
import { signedBytes } from '../../src/tx/assemble.ts';
import { unsignedFromJson } from '../../src/tx/json/encode.ts';
import { family } from '../family.ts';
import { silent } from '../finality/schedule.ts';
import { temporaryFolder } from '../system/e2e/dev-node.ts';

const scheme = createChainScheme(family, 'T'.charCodeAt(0));
const { publicKey, privateKey } = family.keyPairFromPhrase('the owner');
const other = family.keyPairFromPhrase('another account');
const address = scheme.addressOf(publicKey);
const genesis = new Uint8Array(32).fill(7);
const settings = new Uint8Array(32).fill(8);
const noteOwner = { genesis, voter: publicKey };
const NOW = 1_700_000_000_000;
const ROUND_MS = 1000;
/** One round a second, as under proof of authority. */
const consensus = {
  turnOf: ({ timestamp }: { timestamp: number }) => `round ${Math.floor(timestamp / ROUND_MS)}`,
};

/** A life of a signer on the notes in a folder. */
function life(dir: string, isNew = false, full?: Pick<NoteDisk, 'replace'>) {
  const paths = { blocks: join(dir, 'blocks'), votes: join(dir, 'votes') };
  if (isNew) {
    const blocks = encodeBlockNote(blockNoteFrom(NOW), noteOwner, scheme);
    files.replace(paths.blocks, blocks, { secret: true });
    files.replace(paths.votes, encodeNote(FIRST_NOTE, noteOwner, scheme), { secret: true });
  }
  const [blockDisk, voteDisk] = [noteDisk(files, paths.blocks), noteDisk(files, paths.votes)];
  const clock = { ms: NOW };
  const keys = new Map(
    [publicKey, other.publicKey].map((key) => [`${scheme.addressOf(key)}`, key]),
  );
  const signer = new Signer(
    { genesis, consensus: settings, owner: { address, publicKey }, types: new Set([105]) },
    {
      blocks: readBlockNote(blockDisk, paths.blocks, noteOwner, scheme),
      votes: readNote(voteDisk, paths.votes, noteOwner, scheme),
      blockDisk: full ?? blockDisk,
      voteDisk: full ?? voteDisk,
    },
    {
      scheme,
      clock: { now: () => clock.ms },
      log: silent,
      consensus,
      readStatus: () => {
        throw new CodecError('status', 'none');
      },
      keys: {
        publicKeys: () => [publicKey],
        publicKey: (of) => keys.get(`${of}`),
        sign: (of, _password, message) =>
          family.sign(
            `${of}` === `${address}` ? privateKey : other.privateKey,
            message,
            systemRandom,
          ),
      },
    },
  );
  const sign = (kind: SignedKind, message: Uint8Array, by = address): Promise<Answer> =>
    signer.sign({ kind, address: by, password: '', message });
  return { signer, sign, clock, paths };
}

const header = (timestamp: number, more: Partial<UnsignedHeader> = {}): UnsignedHeader => ({
  version: 3,
  timestamp,
  reference: new Uint8Array(64).fill(9),
  consensus: { kind: 'poa', skippedRounds: 0 },
  features: [],
  generator: publicKey,
  ...more,
});
const bound = { parentHash: genesis, bodyHash: genesis, justification: new Uint8Array(0) };
const block = (timestamp: number, more: Partial<UnsignedHeader> = {}): Uint8Array =>
  unsealedBlock(header(timestamp, more), [], scheme).message;
const vote = (source: number, target: number, fill = 1, of = genesis): Uint8Array => {
  const at = (height: number) => ({ height, id: new Uint8Array(32).fill(fill) });
  const made: Vote = { genesis: of, ruleHash: of, source: at(source), target: at(target) };
  return voteBytes(made, scheme);
};
const transfer = signedBytes(
  unsignedFromJson(
    {
      type: 4,
      version: 2,
      sender: scheme.addressToText(address),
      recipient: scheme.addressToText(address),
      amount: 1,
      fee: 1_000_000,
      attachment: '',
    },
    scheme,
    { publicKeyOf: () => publicKey, timestamp: NOW, feeOf: () => 1_000_000n },
  ).assemble([new Uint8Array(64)]),
);
const signatureOf = (answer: Answer): Uint8Array => {
  if ('signature' in answer) return answer.signature;
  throw new Error(JSON.stringify(answer));
};

for (const version of [3, 100] as const) {
  t.test(`a turn has one block of version ${version}, over restarts`, async (t) => {
    const dir = temporaryFolder(t);
    const more = version === 100 ? { version, bound } : {};
    const of = (timestamp: number, features: number[] = []) =>
      block(timestamp, { ...more, features });
    const first = life(dir, true);
    t.match(await first.sign('block', of(NOW - 5)), { refused: /is not after/ });
    const at = NOW + 2 * ROUND_MS;
    const signature = signatureOf(await first.sign('block', of(at)));
    t.ok(family.verify(publicKey, of(at), signature));
    for (const { sign } of [first, life(dir)]) {
      t.same(await sign('block', of(at)), { signature }, 'the same bytes again');
      t.match(await sign('block', of(at, [3])), { refused: /has its turn/ });
      t.match(await sign('block', of(at + 5)), { refused: /has its turn/ });
      t.match(await sign('block', of(at - ROUND_MS)), { refused: /is not after/ });
    }
    const next = life(dir);
    signatureOf(await next.sign('block', of(at + ROUND_MS)));
    t.match(await next.sign('block', of(at)), { refused: /has its turn|is not after/ });
    t.match(await next.sign('block', of(NOW + 61_000)), { refused: /ahead of the clock/ });
    next.clock.ms = NOW + 61_000;
    signatureOf(await next.sign('block', of(NOW + 61_000)));
  });
}

t.test('votes keep both locks, over restarts', async (t) => {
  const dir = temporaryFolder(t);
  const first = life(dir, true);
  const signature = signatureOf(await first.sign('vote', vote(5, 8)));
  for (const { sign } of [first, life(dir)]) {
    t.same(await sign('vote', vote(5, 8)), { signature });
    t.match(await sign('vote', vote(5, 8, 2)), { refused: /5 → 8 after one 5 → 8/ });
    t.match(await sign('vote', vote(4, 9)), { refused: /4 → 9/ }, 'a surround');
    t.match(await sign('vote', vote(6, 7)), { refused: /6 → 7/ });
    t.match(await sign('vote', vote(5, 9, 1, new Uint8Array(32))), { refused: /another network/ });
  }
  signatureOf(await life(dir).sign('vote', vote(8, 9)));
});

t.test(
  'without notes nothing that they guard is signed, and a damaged one ends the start',
  async (t) => {
    const dir = temporaryFolder(t);
    const { sign, paths } = life(dir);
    t.match(await sign('vote', vote(1, 2)), { refused: /signer init/ });
    t.match(await sign('block', block(NOW + ROUND_MS)), { refused: /signer init/ });
    life(dir, true);
    for (const path of Object.values(paths)) {
      const bytes = files.read(path)!.slice();
      bytes[40]! ^= 1;
      files.replace(path, bytes);
      t.throws(() => life(dir), StartError);
      bytes[40]! ^= 1;
      files.replace(path, bytes);
    }
    life(dir);
  },
);

t.test('a block or a vote is signed as nothing else', async (t) => {
  const { sign } = life(temporaryFolder(t), true);
  const turn = turnBytes(header(NOW + 5000), scheme);
  const proof = concat(utf8('permchain-hs-v1'), new Uint8Array(70));
  const of: [SignedKind, Uint8Array][] = [
    ['block', block(NOW + 5000)],
    ['block', block(NOW + 5000, { version: 100, bound })],
    ['vote', vote(1, 2)],
    ['turn', turn],
    ['transaction', transfer],
    ['identity', proof],
    ['identity', utf8('permchain-id-v1')],
  ];
  const kinds: SignedKind[] = [
    'block',
    'vote',
    'turn',
    'transaction',
    'status',
    'identity',
    'text',
  ];
  for (const [own, message] of of) {
    for (const kind of kinds) {
      if (kind !== own)
        t.match(await sign(kind, message), { refused: String }, `${own} as ${kind}`);
    }
  }
  signatureOf(await sign('turn', turn));
  signatureOf(await sign('identity', proof));
  signatureOf(await sign('text', utf8('hello')));
  t.match(await sign('text', Uint8Array.of(0xff, 0xfe)), { refused: /UTF-8/ });
  t.match(await sign('transaction', transfer), { refused: /signer.types does not have type 4/ });
});

t.test('the owner alone makes blocks and votes, and nobody signs for another key', async (t) => {
  const { sign, signer } = life(temporaryFolder(t), true);
  const by = scheme.addressOf(other.publicKey);
  for (const [kind, message] of [
    ['block', block(NOW + 5000)],
    ['vote', vote(1, 2)],
  ] as const) {
    t.match(await sign(kind, message, by), { refused: /owner-address alone/ });
  }
  const strange = block(NOW + 5000, { generator: other.publicKey });
  t.match(await sign('block', strange), { refused: /another key/ });
  t.match(await sign('transaction', transfer, by), { refused: /another key/ });
  const greeting = { version: 1, chainId: scheme.chainId, genesis };
  t.same(signer.greet(greeting), { keys: [publicKey] });
  t.match(signer.greet({ ...greeting, version: 2 }), { refused: /version 2/ });
  t.match(signer.greet({ ...greeting, genesis: publicKey.slice(0, 32) }), { refused: /network/ });
  t.match(signer.greet({ ...greeting, consensus: settings }), { keys: Array });
  const others = { ...greeting, consensus: publicKey.slice(0, 32) };
  t.match(signer.greet(others), { refused: /compute turns by other settings/ });
  for (const one of [greeting, others]) {
    const question = { id: 0, greeting: one };
    t.strictSame(decodeQuestion(encodeQuestion(question, scheme), scheme), question);
  }
});

t.test('what the disk has refused gets no signature, also when asked again at once', async (t) => {
  const full = { replace: () => Promise.reject(new Error('no space left')) };
  for (const [kind, message] of [
    ['block', block(NOW + 5000)],
    ['vote', vote(1, 2)],
  ] as const) {
    const { sign } = life(temporaryFolder(t), true, full);
    const answers = await Promise.allSettled([sign(kind, message), sign(kind, message)]);
    t.same(
      answers.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    await t.rejects(sign('text', utf8('hello')), /no space left/);
  }
});
