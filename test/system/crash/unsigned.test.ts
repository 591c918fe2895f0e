// A node takes nothing that nobody has signed: accounts with scripts post transactions without a
// signature of their key, and remove their scripts. The node is killed in between, and knows the
// transactions only from its journal. None of them may be mined, and the chain must be good for a
// node that has never seen them. Those that are signed must be mined.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { type DevFolder, makeDevFolder } from '../../../bench/node/dev-folder.ts';
import { submit, until } from '../../../bench/node/funded.ts';
import { type NodeProcess, startNode } from '../../../bench/node/node-process.ts';
import { createSenders } from '../../../bench/transfers/senders.ts';
import { broadcastBody, fundingTransfers } from '../../../bench/transfers/transfers.ts';
import { base58 } from '../../../src/base/base58.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { issue } from '../../../src/tx/types/003-issue.ts';
import { childEnvironment } from '../../child-environment.ts';
import { family } from '../../family.ts';
import { threadSettings } from '../../http-threads.ts';
import { NOBODY, onlyBy, scriptTx, signedTx, tradeTx, transferTx } from './witness/unsigned.ts';

const ROUND_MS = 6000;
const FORGED = 20;
const BIN = fileURLToPath(new URL('../../../bin/platform-node', import.meta.url));
const run = promisify(execFile);

t.setTimeout(300_000);

t.test('what nobody signed is not mined after a crash', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'unsigned-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const { platformCrypto } = family;
  const genesisTimestamp = Date.now() - ROUND_MS;
  const folder = await makeDevFolder({ dir, roundMs: ROUND_MS, genesisTimestamp, platformCrypto });
  const { scheme, owner } = folder;
  const senders = createSenders(5, scheme, 'account with a script');
  const [anybody, guarded, buyer, newKey, honest] = senders as Five;
  let node = await startNode(folder, { set: threadSettings });
  t.teardown(() => node.kill());
  const send = async (...txs: readonly Tx[]): Promise<void> => {
    for (const tx of txs) await submit(node.port, broadcastBody(tx, scheme));
  };

  const gold = { name: 'gold', description: 'gold', quantity: 1000n, decimals: 0 };
  const about = { reissuable: false, script: undefined, senderPublicKey: owner.publicKey };
  const now = Date.now();
  const asset = signedTx(
    issue,
    2,
    { ...gold, ...about, fee: issue.fee, timestamp: now },
    owner,
    scheme,
  );
  await send(...fundingTransfers(senders, owner, now, scheme), asset);
  await mined(node, [asset]);
  const scripts = [
    scriptTx(anybody, 'true', now, anybody, scheme),
    scriptTx(guarded, onlyBy(newKey), now, guarded, scheme),
    scriptTx(buyer, 'true', now, buyer, scheme),
  ];
  await send(...scripts);
  await mined(node, scripts);

  // Just after a block, so that the node dies before the next.
  await newBlock(node);
  const at = Date.now();
  const removals = [
    scriptTx(anybody, undefined, at, NOBODY, scheme),
    scriptTx(guarded, undefined, at, newKey, scheme),
    scriptTx(buyer, undefined, at, NOBODY, scheme),
  ];
  const later = at + 60_000;
  const traders = { matcher: owner, buyer, seller: owner, asset: asset.id };
  const unsigned = [
    ...Array.from({ length: FORGED }, (_, i) =>
      transferTx(anybody, honest.address, i, later, NOBODY, scheme),
    ),
    transferTx(guarded, honest.address, 0, later, newKey, scheme),
    tradeTx(traders, later, NOBODY, scheme),
  ];
  const signed = [
    transferTx(anybody, honest.address, FORGED, later, anybody, scheme),
    transferTx(honest, buyer.address, 0, later, honest, scheme),
  ];
  // Its script wants another signature than the account without one.
  const double = tradeTx(traders, later + 1, buyer, scheme);
  const before = await heightOf(node);
  await send(...removals, ...unsigned, ...signed, double);
  t.equal(await heightOf(node), before, 'no block came in between');
  await node.kill();

  // It makes no block yet, which would end the forged ones before they are looked for.
  node = await startNode(folder, { set: [...threadSettings, 'miner.enable=no'] });
  const pool = idsOf(await node.get('/transactions/unconfirmed'));
  for (const { id } of [...removals, ...unsigned, ...signed]) {
    const text = base58.encode(id);
    t.ok(
      pool.has(text) || (await isMined(node, text)),
      'an acknowledged one is still known, whatever becomes of it',
    );
  }
  await node.kill();

  node = await startNode(folder, { set: threadSettings });
  await mined(node, [...removals, ...signed, double]);
  await newBlock(node);
  await newBlock(node);
  for (const { id, type } of unsigned) {
    t.notOk(await isMined(node, base58.encode(id)), `nobody signed this type ${type}`);
  }
  await node.stop();
  t.strictSame(await imported(folder), await hashOf(folder.config), 'others accept the chain');
});

type Five = [Sender, Sender, Sender, Sender, Sender];
type Sender = ReturnType<typeof createSenders>[number];

const heightOf = async (node: NodeProcess): Promise<number> =>
  ((await node.get('/blocks/height')) as { height: number }).height;

async function newBlock(node: NodeProcess): Promise<void> {
  const before = await heightOf(node);
  await until('a block', async () => (await heightOf(node)) > before);
}

const idsOf = (list: unknown): Set<string> =>
  new Set((list as readonly { id: string }[]).map(({ id }) => id));

/** A node that has just started may be busy: only 404 says that it is in no block. */
async function isMined(node: NodeProcess, id: string): Promise<boolean> {
  let answer: boolean | undefined;
  await until(`an answer about ${id}`, async () => {
    answer = await node.get(`/transactions/info/${id}`).then(
      () => true,
      (cause: Error) => (cause.message.includes(': 404 ') ? false : undefined),
    );
    return answer !== undefined;
  });
  return answer!;
}

async function mined(node: NodeProcess, txs: readonly Tx[]): Promise<void> {
  for (const { id, type } of txs) {
    await until(`a type ${type} in a block`, () => isMined(node, base58.encode(id)));
  }
}

const platformNode = async (...args: readonly string[]): Promise<unknown> =>
  JSON.parse((await run(BIN, args, { env: childEnvironment() })).stdout);

interface StateAt {
  readonly height: number;
  readonly stateHash: string;
}

const hashOf = async (config: string): Promise<StateAt> =>
  (await platformNode('chain', 'hash', config)) as StateAt;

/** The chain on a node that has never seen its transactions, with every check. */
async function imported({ dir, config }: DevFolder): Promise<StateAt> {
  const file = join(dir, 'chain.bin');
  await platformNode('chain', 'export', config, file);
  const set = `data-directory=${join(dir, 'newcomer')}`;
  const { height, stateHash } = (await platformNode(
    'chain',
    'import',
    config,
    file,
    '--set',
    set,
  )) as StateAt;
  return { height, stateHash };
}
