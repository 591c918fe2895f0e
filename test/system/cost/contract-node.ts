/**
 * A node in memory with contracts of thousands of keys, as a process. Its clock is that of the
 * machine for the interface, which then pauses as it does elsewhere. The process reports where it
 * answers, and the contract of each sign of which keys consist.
 */
import { systemClock } from '../../../src/adapters/system.ts';
import { base58 } from '../../../src/base/base58.ts';
import { KEY_CHARS_MAX } from '../../../src/tx/fields/entries.ts';
import { txToJson } from '../../../src/tx/json/encode.ts';
import { ROUND_MS, wholeNode } from '../../node/in-process.ts';
import { serveApi } from '../../rest/fixtures/memory-node.ts';
import { dearPatterns } from './found/patterns.ts';

export interface ContractNode {
  readonly url: string;
  /** Ids by sign. */
  readonly contracts: Readonly<Record<string, string>>;
}

const KEYS = 1_000;
/** Letters, so that a pattern of letters matches all of the key. */
const DIGITS = 'abcdefghij';
const DIGITS_MAX = 3;

const scope = { teardown: () => {} };
const whole = await wholeNode(scope, { set: ['miner.enable=no'] });
const [owner] = whole.accounts;
const contracts: Record<string, string> = {};

for (const { sign } of dearPatterns) {
  if (contracts[sign] !== undefined) continue;
  const image = { image: 'sum:1', imageHash: 'ab'.repeat(32) };
  const creation = whole.make(owner, { type: 103, ...image, contractName: 'keys', params: [] });
  const results = Array.from({ length: KEYS }, (_, i) => {
    const end = String(i)
      .padStart(DIGITS_MAX, '0')
      .replace(/\d/g, (digit) => DIGITS[Number(digit)]!);
    return { key: sign.repeat(KEY_CHARS_MAX - DIGITS_MAX) + end, type: 'boolean', value: true };
  });
  const tx = txToJson(creation, whole.scheme);
  await whole.clock.advance(ROUND_MS);
  await whole.produceBlock(whole.make(owner, { type: 105, tx, results, fee: 0 }));
  contracts[sign] = base58.encode(creation.id);
}

const url = await serveApi(scope, { ...whole.node.services, clock: systemClock() });
process.send?.({ url, contracts } satisfies ContractNode);
