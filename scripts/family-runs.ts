/**
 * Test files that the whole test run repeats with the national family of cryptography. What takes
 * long is shortened, because the first run has covered what does not depend on the family.
 */

export interface FamilyRun {
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
}

const NATIONAL = { TEST_FAMILY: 'gost' };

const files: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'test/block/genesis.test.ts': {},
  'test/chain/blockchain.test.ts': {},
  'test/contracts/statuses/status-record.test.ts': {},
  'test/crash/kills.test.ts': { CRASH_KILLS: '4' },
  'test/e2e/lifecycle.test.ts': {},
  'test/keystore/keystore.test.ts': {},
  'test/network/joining.test.ts': {},
  'test/node/rest-cases.test.ts': {},
  'test/privacy/exchange.test.ts': {},
  'test/rest-cases/rest-cases.test.ts': {},
  'test/rules/random-blocks.test.ts': {},
  'test/rules/script-rules.test.ts': {},
  'test/tx/corrupt-json.test.ts': {},
  'test/tx/corruption.test.ts': { MUTATIONS: '20000' },
  'test/tx/round-trip.test.ts': { ROUND_TRIPS: '20000' },
};

export const familyRuns: readonly FamilyRun[] = Object.entries(files).map(([file, env]) => ({
  file,
  env: { ...NATIONAL, ...env },
}));
