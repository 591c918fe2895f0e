// A transaction that the node has accepted is read again without the estimate of the script in it:
// a script of another author may ask for many of them, and pays for their bytes alone.
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import type { Verifier } from '../../src/base/ports/verifier.ts';
import { ScriptHistory } from '../../src/chain/store/script-history.ts';
import {
  bytesUnder,
  candidateUnder,
  findTransaction,
  headerRowAt,
  transactionsAt,
  transactionsInSlices,
  transactionsOf,
} from '../../src/chain/store/stored-blocks.ts';
import { TimeSlice } from '../../src/concurrency/time-slice.ts';
import { followedIn } from '../../src/privacy/fetching/follow-chain.ts';
import { blockChunks } from '../../src/rest/block-json.ts';
import { extendedText } from '../../src/rest/shapes.ts';
import { feature } from '../../src/tx/rules/features.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { decodeTx } from '../../src/tx/tx-bytes.ts';
import { issue } from '../../src/tx/types/003-issue.ts';
import { atomic, sealedForBlock } from '../../src/tx/types/120-atomic.ts';
import { binaryOf, doubled } from '../generators/dear-scripts.ts';
import { compiled } from '../generators/scripts.ts';
import { createTestPool, memoryJournal } from '../mempool/pool-harness.ts';
import {
  mine,
  miners,
  newChain,
  nextTurn,
  rules,
  scheme,
  signed,
  users,
  verifier,
} from './chain-harness.ts';
import { guard } from './dear-blocks.ts';
import { stepsOf } from './unknown-scripts.ts';

const [alice, bob] = users;
const issuer = miners[0]!;
/** The estimate of the script takes more. */
const STEPS_LEAST = 10_000;
const HEIGHT = 2;

const dear = (time: number) =>
  guard(
    alice,
    binaryOf({
      op: 'block',
      name: 'any',
      value: { op: 'bool', value: true },
      body: doubled(12, { op: 'ref', name: 'any' }),
    }),
    time,
  );

t.test('in the pool', async (t) => {
  const at = await newChain();
  const tx = dear(at.clock.time);
  t.ok((await stepsOf(() => decodeTx(tx.bytes, scheme))) > STEPS_LEAST, 'at the door');
  const pool = createTestPool(at);
  await pool.submit(tx);
  const routes: Record<string, () => unknown> = {
    'to be packed': () => pool.decode(pool.entry(tx.id)!),
    'asked for': () => pool.get(tx.id),
    listed: () => [...pool.list()],
    'sent again': () => pool.submit(tx),
  };
  for (const [name, read] of Object.entries(routes)) t.equal(await stepsOf(read), 0, name);
});

t.test('in the journal', async (t) => {
  const at = await newChain();
  const tx = dear(at.clock.time);
  const others = Array.from({ length: 200 }, (_, i) =>
    guard(bob, compiled(`height != ${i}`), at.clock.time + i),
  );
  const records = [tx, ...others].map(({ bytes }) => bytes);
  let isWaiting = false;
  const never: Verifier = {
    ...verifier,
    verify() {
      isWaiting = true;
      return new Promise(() => {});
    },
  };
  const ports = { verifier: never, journal: memoryJournal(records) };
  const pool = createTestPool(at, ports, { senderEntriesMax: 1000 });
  const once = await stepsOf(() => decodeTx(tx.bytes, scheme));
  const steps = await stepsOf(async () => {
    void pool.recover();
    while (!isWaiting) await new Promise(setImmediate);
  });
  const ofOthers = others.length * 10;
  t.ok(steps >= once && steps < once + ofOthers, `${steps} steps, ${once} of them of one reading`);
  t.equal(pool.size(), records.length);
  t.equal(await stepsOf(() => pool.get(tx.id)), 0, 'asked for while it waits');
  t.equal(await stepsOf(() => [...pool.list()]), 0, 'listed');
});

t.test('in the chain', async (t) => {
  const at = await newChain();
  const tx = dear(nextTurn(at).time);
  await mine(at, [tx]);
  const { view } = at.blockchain;
  const placed = { ...headerRowAt(view, HEIGHT)!, height: HEIGHT };
  const settings = { sdkCompatible: true } as never;
  const consensus = { type: 'poa' } as never;
  const services = {
    view,
    scheme,
    settings,
    rules,
    consensus,
    tip: () => ({ height: HEIGHT }),
    height: () => HEIGHT,
  } as never;
  // It reads what is older than itself.
  const history = new ScriptHistory({ blocks: 5, ms: 0, accounts: 10 }, at.blockchain, at.clock);
  history.start();
  const routes: Record<string, () => unknown> = {
    'a script looks it up': () => candidateUnder(view, tx.id)!.tx(),
    'asked for': () => findTransaction(view, tx.id),
    'of a block': () => transactionsAt(view, HEIGHT),
    'of a block, in turns': () => transactionsInSlices(view, HEIGHT, new TimeSlice(at.clock)),
    'of an account': () => [...transactionsOf(view, alice.address, 10)],
    'the answer with a block': () => [...blockChunks(placed, services)],
    'the accounts with scripts': () => history.hadScript(bob.address),
    'taken back': () => at.blockchain.rollback(1),
  };
  t.same(candidateUnder(view, tx.id)!.tx().bytes, bytesUnder(view, tx.id)!.bytes);
  for (const [name, read] of Object.entries(routes)) t.equal(await stepsOf(read), 0, name);
});

t.test('in a group of the chain', async (t) => {
  const features = new Map([...rules.preActivatedFeatures, [feature.atomic, 0] as const]);
  const at = await newChain(undefined, { ...rules, preActivatedFeatures: features });
  const { miner, time } = nextTurn(at);
  const { script } = dear(time).fields;
  const about = { fee: 1_000_000_000n, feeAssetId: undefined, timestamp: time };
  const badge = { atomicBadge: { trustedSender: undefined } };
  const token = {
    ...{ ...about, ...badge, name: 'token', description: '', quantity: 1n, decimals: 0 },
    ...{ reissuable: false, script: script as Uint8Array },
  };
  const members = [1n, 2n].map((quantity) => signed(issue, issuer, { ...token, quantity }, 3));
  const group = signed(atomic, issuer, { transactions: members as never, timestamp: time }, 1);
  const { bytes } = sealedForBlock(group as unknown as Tx, miner);
  const tx = decodeTx(bytes, scheme);
  const member = members[0]!.id;
  await mine(at, [tx]);
  const { view } = at.blockchain;
  const asked = { bytes: member, text: base58.encode(member) } as never;
  const routes: Record<string, () => unknown> = {
    'asked for': () => findTransaction(view, member),
    'followed for policies': () => [...followedIn(bytes, scheme)],
    'the answer with a member': () => extendedText(asked, { view, scheme }),
  };
  t.equal(
    await stepsOf(() => decodeTx(bytes, scheme)),
    0,
    'at the door, where it may have a hundred',
  );
  for (const [name, read] of Object.entries(routes)) t.equal(await stepsOf(read), 0, name);
  t.match(extendedText(asked, { view, scheme })?.text, '"type":3');
});
