// Rows R1 and R3 of the reliability goals: a real node under load is killed at random moments and
// started again on the same folder. No promised data may be lost, and its state must equal that of a
// clean replay of its blocks. Meanwhile an account gets a script and loses it, with transactions in the
// journal that nobody signed: a cold validator judges each block. CRASH_KILLS sets the number of
// kills, CRASH_RATE that of the transactions a second. With TEST_HTTP_THREADS, the node ends in the ways
// of witness/endings.ts in turn.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import t from 'tap';
import { type DevFolder, makeDevFolder } from '../../../bench/node/dev-folder.ts';
import { poolSize, submit, until } from '../../../bench/node/funded.ts';
import { startNode } from '../../../bench/node/node-process.ts';
import { createSenders } from '../../../bench/transfers/senders.ts';
import { broadcastBody, fundingTransfers } from '../../../bench/transfers/transfers.ts';
import type { Sender } from '../../../src/cli/load/transfers.ts';
import { childEnvironment } from '../../child-environment.ts';
import { family } from '../../family.ts';
import { judgeChain } from './witness/cold-chain.ts';
import { endingOptions, endings } from './witness/endings.ts';
import { createPromises } from './witness/promises.ts';
import { startScriptLoad } from './witness/script-load.ts';
import { startSteadyLoad } from './witness/steady-load.ts';

const KILLS = Number(process.env['CRASH_KILLS'] ?? 4);
const PER_SECOND = Number(process.env['CRASH_RATE'] ?? 100);
const SENDERS = 64;
const ROUND_MS = 1000;
/** A block is made within this time after the beginning of its round. */
const FORGING_MS = { from: 40, to: 160 };
/** From the first acknowledged transactions to the kill. */
const UP_MS = { least: 200, most: 1500 };
const ACKNOWLEDGED_LEAST = 20;
const WATCH_MS = 100;
/** Far above what it takes on a machine that does nothing else. */
const REST_MS_MAX = 180_000;
const CYCLE_MS_MAX = 60_000;
const BIN = fileURLToPath(new URL('../../../bin/platform-node', import.meta.url));
const run = promisify(execFile);

t.setTimeout(REST_MS_MAX + KILLS * CYCLE_MS_MAX);

t.test(`${KILLS} kills under load lose nothing that was promised`, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'crash-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const genesisTimestamp = Date.now() - ROUND_MS;
  const { platformCrypto } = family;
  const folder = await makeDevFolder({ dir, roundMs: ROUND_MS, genesisTimestamp, platformCrypto });
  const { scheme, owner } = folder;
  const senders = createSenders(SENDERS, scheme);
  const [scripted, other] = createSenders(2, scheme, 'scripted') as [Sender, Sender];
  const logFile = join(dir, 'node.log');
  const promises = createPromises();
  const refusals: string[] = [];
  let sent = 0;
  let acknowledged = 0;
  let unsigned = 0;
  let node = await startNode(folder, endingOptions);
  t.teardown(() => node.kill());

  for (const tx of fundingTransfers([...senders, scripted, other], owner, Date.now(), scheme)) {
    await submit(node.port, broadcastBody(tx, scheme));
    promises.acknowledge(tx.id);
  }
  await until('the funds in blocks', async () => {
    await promises.watch(node);
    return promises.open() === 0;
  });

  for (let kill = 1; kill <= KILLS; kill++) {
    const before = acknowledged;
    const load = startSteadyLoad({
      port: () => node.port,
      perSecond: PER_SECOND,
      senders,
      scheme,
      next: () => sent++,
      acknowledged(id) {
        promises.acknowledge(id);
        acknowledged++;
      },
      refused: (answer) => refusals.push(answer),
    });
    const scripts = startScriptLoad({
      port: () => node.port,
      accounts: [scripted, other],
      scheme,
      acknowledged: promises.acknowledge,
    });
    const watcher = setInterval(() => void promises.watch(node).catch(() => undefined), WATCH_MS);
    await until('acknowledged ones', async () => acknowledged - before >= ACKNOWLEDGED_LEAST);
    if (kill === KILLS) {
      await until('a script that came and went', async () => {
        return scripts.rounds > 0 && unsigned + scripts.unsigned > KILLS;
      });
    }
    await wait(momentOf(kill, genesisTimestamp));
    clearInterval(watcher);
    const ending = endings[kill % endings.length]!;
    const log = readFileSync(logFile).length;
    const exit = await node.end(ending.signal);
    t.ok(
      ending.exits.some((one) => isDeepStrictEqual(one, exit)),
      `end ${kill} by ${ending.signal}: ${JSON.stringify(exit)}`,
    );
    const said = readFileSync(logFile).subarray(log).toString();
    if (ending.says !== undefined) t.match(said, ending.says);
    await load.stop();
    await scripts.stop();
    unsigned += scripts.unsigned;

    node = await startNode(folder, endingOptions);
    const broken = await promises.audit(node, logFile);
    if (broken.length > 0) t.fail(`kill ${kill}`, { broken: broken.slice(0, 10) });
  }

  await until('an empty pool', async () => {
    await promises.watch(node);
    return (await poolSize(node)) === 0;
  });
  t.strictSame(await promises.audit(node, logFile), [], 'everything promised is there at the end');
  t.equal(promises.open(), 0, 'every acknowledged transaction is mined or refused with a reason');
  t.strictSame(refusals.slice(0, 3), [], 'the node refused none of the transfers');
  const { confirmed } = promises.counts();
  await node.stop();
  t.comment(
    `${KILLS} kills, ${sent} sent, ${acknowledged} acknowledged, ${confirmed} confirmed, ` +
      `${promises.reasons().size} reasons of refusal ${[...promises.reasons()].slice(0, 3).join('; ')}`,
  );

  const { height, stateHash } = await hashOf(folder.config);
  const cold = await judgeChain(folder.config, scheme);
  t.strictSame([cold.height, cold.stateHashes.at(-1)], [height, stateHash], 'judged from bytes');
  t.comment(`${cold.scripts} scripts set or removed, ${unsigned} unsigned acknowledged`);
  t.ok(cold.scripts > 1 && unsigned > KILLS, 'a script came and went');
  t.strictSame(await replayed(folder), { height, stateHash }, 'state of a clean replay');
});

/** Half of the kills come at any time, the others while a block is being made. */
function momentOf(kill: number, genesisTimestamp: number): number {
  const any = UP_MS.least + Math.random() * (UP_MS.most - UP_MS.least);
  if (kill % 2 === 0) return any;
  const now = Date.now();
  const round = Math.ceil((now + any - genesisTimestamp) / ROUND_MS);
  const within = FORGING_MS.from + Math.random() * (FORGING_MS.to - FORGING_MS.from);
  return genesisTimestamp + round * ROUND_MS + within - now;
}

interface StateAt {
  readonly height: number;
  readonly stateHash: string;
}

/** Runs the command without the hooks that the test runner gives its children. */
const platformNode = async (...args: readonly string[]): Promise<unknown> =>
  JSON.parse((await run(BIN, args, { env: childEnvironment() })).stdout);

const hashOf = async (config: string): Promise<StateAt> =>
  (await platformNode('chain', 'hash', config)) as StateAt;

/** The same blocks once more, with every check, into an empty data directory. */
async function replayed({ dir, config }: DevFolder): Promise<StateAt> {
  const file = join(dir, 'chain.bin');
  await platformNode('chain', 'export', config, file);
  const set = `data-directory=${join(dir, 'replayed')}`;
  const result = await platformNode('chain', 'import', config, file, '--set', set);
  const { height, stateHash } = result as StateAt;
  return { height, stateHash };
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
