/**
 * `platform-node dev`: a ready one-node network with funded accounts, on a temporary folder or on
 * one that can be kept.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { durationOf } from '../node/config/kinds.ts';
import type { DevNetwork } from './dev-network.ts';

interface Options {
  readonly dir?: string;
  readonly keep?: true;
  readonly restPort: number;
  readonly round: number;
  readonly json?: true;
  readonly checkState?: true;
}

const ROUND_MS_MIN = 100;

export function register(command: Command): void {
  command
    .option('--dir <folder>', 'folder of the network (default: a temporary one)')
    .option('--keep', 'leave the folder for a later run')
    .option('--rest-port <port>', 'port of the REST listener', port, 6862)
    .option('--round <duration>', 'time between blocks', round, 1000)
    .option('--json', 'print one line of JSON when ready')
    .option('--check-state', 'check the sums of the whole ledger after every block (slow)')
    .action(run);
}

function port(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65535) {
    throw new InvalidArgumentError('a port number from 0 to 65535, 0 for any free one');
  }
  return value;
}

function round(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/.exec(text);
  const ms = match && durationOf(Number(match[1]), match[2] ?? '')?.ms;
  if (!ms || ms < ROUND_MS_MIN) {
    throw new InvalidArgumentError(`a duration such as "1s", at least ${ROUND_MS_MIN}ms`);
  }
  return Math.round(ms);
}

async function run(options: Options): Promise<void> {
  const dir =
    options.dir === undefined
      ? mkdtempSync(join(tmpdir(), 'platform-node-'))
      : resolve(options.dir);
  mkdirSync(dir, { recursive: true });
  try {
    const network = await prepare(dir, options);
    // The owner of a development network has no password.
    process.env['PLATFORM_NODE_OWNER_PASSWORD_EMPTY'] ??= 'true';
    const { configPath } = await import('./dev-network.ts');
    const { loadConfig } = await import('./config-file.ts');
    const { runNode } = await import('./run-node.ts');
    const { endOnFailure } = await import('./fatal.ts');
    const { config } = await loadConfig(configPath(dir), {
      set: [`rest-api.port=${options.restPort}`],
    });
    const audit = options.checkState === true ? 'state' : 'blocks';
    const node = await runNode(config, { audit });
    endOnFailure(node.log);
    // A person gets the screen below, which says more.
    const { sayStarted } = await import('./start-screen.ts');
    if (process.stderr.isTTY !== true) sayStarted(node.facts, node.log, false);
    await announce(network, node.rest?.port ?? options.restPort, options.json === true);
    await node.ended;
  } finally {
    if (options.keep !== true) rmSync(dir, { recursive: true, force: true });
  }
}

async function prepare(dir: string, options: Options): Promise<DevNetwork> {
  const { createDevNetwork, readDevNetwork } = await import('./dev-network.ts');
  const { files } = await import('../adapters/files.ts');
  const { systemRandom } = await import('../adapters/system.ts');
  const earlier = readDevNetwork(dir, files);
  if (earlier !== undefined) return earlier;
  const { createFamily } = await import('../crypto/families.ts');
  const { createChain } = await import('../crypto/chain.ts');
  const { openKeystore } = await import('../keystore/keystore.ts');
  const { DEV_CHAIN_ID } = await import('./dev-network.ts');
  const family = createFamily('curve25519');
  const chain = createChain(family, DEV_CHAIN_ID.charCodeAt(0));
  return createDevNetwork(
    {
      dir,
      restHost: '127.0.0.1',
      restPort: options.restPort,
      roundMs: options.round,
      now: Date.now(),
    },
    {
      files,
      random: systemRandom,
      family,
      async createKeystore(path, password, keys) {
        const keystore = await openKeystore(
          { path, layout: 'file', password },
          { files, random: systemRandom, family, chain },
        );
        await keystore.add(keys);
        keystore.close();
      },
    },
  );
}

async function announce(network: DevNetwork, restPort: number, json: boolean): Promise<void> {
  const { stringify } = await import('../base/json.ts');
  const rest = `http://127.0.0.1:${restPort}`;
  const { apiKey, privacyApiKey, accounts, chainId } = network;
  const owner = accounts[0]?.address;
  if (json) {
    const nodes = [{ rest, apiKey, privacyApiKey, owner }];
    console.log(stringify({ ready: true, chainId, nodes, accounts }));
    return;
  }
  console.log(`
  A private network with one node is running.

  REST API   ${rest}          try it in a browser: ${rest}/api-docs
  Explorer   ${rest}/explorer
  API key    ${apiKey}
  Chain id   ${chainId}

  Accounts (the first one has every role):`);
  for (const { address, seed } of accounts) console.log(`    ${address}   seed: ${seed}`);
  console.log('\n  Ctrl-C stops it.\n');
}
