// What scripts call is made before the first of them runs, so that a want of memory is no verdict of one node.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { parseWithIncludes } from '../../src/adapters/hocon.ts';
import { stderrLog } from '../../src/adapters/log.ts';
import { systemClock } from '../../src/adapters/system.ts';
import { cryptographyOfConfig } from '../../src/cli/cryptography.ts';
import { genesisBlock } from '../../src/cli/genesis-block.ts';
import { keccak256 } from '../../src/crypto/keccak.ts';
import { readConfig } from '../../src/node/config/read.ts';
import { openBlockchain } from '../../src/node/open-blockchain.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';

const file = new URL('../chain/fixture/gost.conf', import.meta.url).pathname;

// The usual harness has accounts of the other family, which hashes with Keccak.
t.test('Keccak in a network of the national family', async (t) => {
  const text = readFileSync(file, 'utf8');
  const { tree } = await parseWithIncludes(file);
  const input = { file, text, tree, env: {}, sets: [] };
  const { config } = readConfig({ ...input, home: '/', nonce: 0, readSecret: () => undefined });
  const verifier = { verifyOne: async () => true, verify: async () => [], close: async () => {} };
  await openBlockchain(config, genesisBlock(config), {
    scheme: cryptographyOfConfig(config).scheme,
    store: createMemoryStore(),
    verifier,
    clock: systemClock(undefined),
    log: stderrLog('error', false),
  });
  const own = WebAssembly as unknown as { Memory: unknown };
  const { Memory } = own;
  t.teardown(() => {
    own.Memory = Memory;
  });
  own.Memory = class {
    constructor() {
      throw new RangeError('WebAssembly.Memory(): could not allocate memory');
    }
  };
  t.equal(keccak256(new Uint8Array(3)).length, 32);
});
