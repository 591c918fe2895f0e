/**
 * A and A_r: anvil with blocks of one second. A counts the transactions it accepts, one
 * eth_sendRawTransaction per POST; A_r its balance reads. The benchmark installs it on demand into
 * its own folder, since the node does not depend on it.
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { post } from '../../src/cli/load/signed-transfers.ts';
import type { HttpLoad } from '../load/http.ts';
import { batch } from '../load/requests.ts';
import { type Contender, NotInstalledError } from '../measure/contender.ts';
import { withCost } from '../measure/cost.ts';
import { cpuSecondsOf } from '../measure/cpu.ts';
import { freePort } from '../measure/free-port.ts';
import { type Account, accountOf, hex, signTransfer } from './ethereum.ts';

export interface Anvil {
  readonly accepted: Contender;
  readonly reads: Contender;
  stop(): Promise<void>;
}

const FOLDER = fileURLToPath(new URL('..', import.meta.url));
const ACCOUNTS = 512;
const CHAIN_ID = 31_337;
const GAS_PRICE = 20_000_000_000n;
/** Blocks hold whatever was accepted, as those of the node do. */
const GAS_LIMIT = 1_000_000_000_000;
const FUNDS = 10n ** 24n;
const CONNECTIONS = 32;
/** More than it accepts; what is left over goes out in the next run. */
const PREPARED_PER_SECOND = 20_000;
const WAIT_MS_MAX = 60_000;
const WAIT_MS = 50;

export async function startAnvil(load: HttpLoad): Promise<Anvil> {
  const binary = await install();
  const port = await freePort();
  const options = { '--port': port, '--block-time': 1, '--gas-limit': GAS_LIMIT };
  const child = spawn(binary, ['--silent', ...Object.entries(options).flat().map(String)]);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = (): Promise<void> => {
    child.kill();
    return ended;
  };
  const call = (method: string, params: readonly unknown[]) => rpc(port, method, params);
  await until(() => call('eth_chainId', []).catch(() => undefined));

  const accounts = Array.from({ length: ACCOUNTS }, (_, i) => accountOf(`bench ${i}`));
  for (const { address } of accounts) {
    await call('anvil_setBalance', [hex(address), `0x${FUNDS.toString(16)}`]);
  }
  let sent = 0;

  /** The next transactions of all accounts in turn. */
  const prepared = (count: number) =>
    batch(
      Array.from({ length: count }, (_, i) =>
        sendTransfer(accounts[(sent + i) % ACCOUNTS]!, Math.floor((sent + i) / ACCOUNTS)),
      ),
    );

  /** Waits until everything is mined, and makes sure that it was not refused. */
  async function drain(): Promise<void> {
    const last = sent - 1;
    const account = accounts[last % ACCOUNTS]!;
    const nonce = Math.floor(last / ACCOUNTS) + 1;
    const params = [hex(account.address), 'latest'];
    await until(async () => Number(await call('eth_getTransactionCount', params)) === nonce);
  }

  const accepted: Contender = {
    name: 'A',
    async run(ms) {
      const requests = prepared(Math.ceil((PREPARED_PER_SECOND * ms) / 1000));
      const job = { ports: [port], connections: CONNECTIONS, durationMs: ms, once: true };
      const result = await withCost(() => load.run({ ...job, requests }));
      sent += result.answers;
      await drain();
      return result;
    },
  };
  const balances = batch(
    accounts.map(({ address }) => post('/', requestOf('eth_getBalance', [hex(address), 'latest']))),
  );
  const reads: Contender = {
    name: 'A_r',
    async run(ms) {
      const before = cpuSecondsOf(child.pid!);
      const job = { ports: [port], connections: CONNECTIONS, durationMs: ms, once: false };
      const result = await load.run({ ...job, polls: true, requests: balances });
      const cost = (cpuSecondsOf(child.pid!) - before) / result.answers;
      return { ...result, costPerOperation: cost };
    },
  };
  return { accepted, reads, stop };
}

/** Path of the program; downloads its package the first time. */
async function install(): Promise<string> {
  const system = `${platform()}-${arch() === 'x64' ? 'amd64' : arch()}`;
  const binary = `${FOLDER}node_modules/@foundry-rs/anvil-${system}/bin/anvil`;
  if (!existsSync(binary)) {
    const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', FOLDER];
    await promisify(execFile)('npm', args).catch(() => undefined);
  }
  if (existsSync(binary)) return binary;
  throw new NotInstalledError('anvil is not installed, and `npm ci --prefix bench` did not help');
}

function sendTransfer(from: Account, nonce: number): Uint8Array {
  const to = from.address;
  const transfer = { nonce, gasPrice: GAS_PRICE, to, value: 1n, chainId: CHAIN_ID };
  return post('/', requestOf('eth_sendRawTransaction', [hex(signTransfer(transfer, from))]));
}

const requestOf = (method: string, params: readonly unknown[]): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

async function rpc(port: number, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: requestOf(method, params),
  });
  const answer = (await response.json()) as { result?: unknown; error?: unknown };
  if (answer.error !== undefined) throw new Error(JSON.stringify(answer.error));
  return answer.result;
}

async function until(isTrue: () => Promise<unknown>): Promise<void> {
  for (let waited = 0; waited < WAIT_MS_MAX; waited += WAIT_MS) {
    if (await isTrue()) return;
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
  throw new Error('anvil does not keep up');
}
