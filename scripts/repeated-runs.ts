/**
 * Test files that the whole test run repeats with another kind of node. What takes long is
 * shortened, because the first run has covered what does not depend on the kind.
 */
import { native } from '../src/adapters/http/listener.ts';
import type { TestRun } from './test-file.ts';

type Variables = Readonly<Record<string, string>>;
type Files = Readonly<Record<string, Variables>>;

/** With the national family of cryptography. */
const national: Files = {
  'test/block/genesis.test.ts': {},
  'test/chain/blockchain.test.ts': {},
  'test/chain/finality-choice.test.ts': {},
  'test/chain/finality/finality-rules.test.ts': {},
  'test/chain/fork/forged-bodies.test.ts': {},
  'test/chain/script-budget.test.ts': {},
  'test/contracts/statuses/status-record.test.ts': {},
  'test/system/crash/kills.test.ts': { CRASH_KILLS: '2' },
  // It takes long, so both other kinds of node are one run.
  'test/system/crash/unsigned.test.ts': { TEST_HTTP_THREADS: '2' },
  'test/system/e2e/lifecycle.test.ts': {},
  'test/keystore/keystore.test.ts': {},
  'test/mempool/scripted-members.test.ts': {},
  'test/mempool/scripts-that-go.test.ts': {},
  'test/network/joining.test.ts': {},
  'test/node/atomic.test.ts': {},
  'test/node/rest-cases.test.ts': {},
  'test/privacy/exchange.test.ts': {},
  'test/rest-cases/rest-cases.test.ts': {},
  'test/tx/rules/random-blocks.test.ts': {},
  'test/tx/rules/script-rules.test.ts': {},
  'test/script/lookups.test.ts': {},
  'test/script/evaluation/meter.test.ts': {},
  'test/system/sim/scripts.test.ts': {},
  'test/tx/corrupt-json.test.ts': {},
  'test/tx/corruption.test.ts': { MUTATIONS: '5000' },
  'test/tx/round-trip.test.ts': { ROUND_TRIPS: '5000' },
};

/** With threads that hold the connections of the REST interface. */
const threaded: Files = {
  // A limit of one server is not divided between threads where there is only one.
  'test/adapters/http/server.test.ts': { TEST_HTTP_THREADS: '1' },
  'test/rest/conformity.test.ts': { CONFORMITY_CASES: '2' },
  'test/system/crash/kills.test.ts': { CRASH_KILLS: '4' },
  'test/system/e2e/connections.test.ts': {},
  'test/system/load/malformed.test.ts': { MALFORMED_SECONDS: '2' },
  'test/system/load/overload.test.ts': { OVERLOAD_SECONDS: '3' },
  'test/node/atomic.test.ts': {},
  'test/node/events.test.ts': {},
  'test/node/rest-cases.test.ts': {},
};

/** On Node's own listener, although the addon of the native one may load. */
const onNode: Files = {
  'test/adapters/http/offload/offload-http.test.ts': {},
  'test/adapters/http/cors.test.ts': {},
  'test/adapters/http/host-door.test.ts': {},
  'test/adapters/http/last-request.test.ts': {},
  'test/adapters/http/send-stream.test.ts': {},
  'test/adapters/http/server.test.ts': {},
  'test/adapters/http/serving.test.ts': {},
  'test/node/events.test.ts': {},
};

const runsOf = (files: Files, kind: Variables): TestRun[] =>
  Object.entries(files).map(([file, env]) => ({ file, env: { ...kind, ...env } }));

export const repeatedRuns: readonly TestRun[] = [
  ...runsOf(national, { TEST_FAMILY: 'gost' }),
  // Without the addon there are no threads, and the first run is on Node's own listener.
  ...(native === undefined
    ? []
    : [
        ...runsOf(threaded, { TEST_HTTP_THREADS: '2' }),
        ...runsOf(onNode, { TEST_HTTP_LISTENER: 'node' }),
      ]),
];
