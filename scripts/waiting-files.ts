/**
 * Test files that wait for engines, rounds or time limits, and use at most a fifth of a processor
 * meanwhile. The whole run has one of them at any time beside those that compute, the longest first.
 */
export const waitingFiles: readonly string[] = [
  'test/system/e2e/signer-answers.test.ts',
  'test/system/e2e/containers.test.ts',
  'test/system/e2e/data-compose.test.ts',
  'test/system/e2e/replicas-compose.test.ts',
  'test/system/crash/turns.test.ts',
  'test/system/crash/unsigned.test.ts',
  'test/adapters/containers/away.test.ts',
  'test/adapters/containers/bad-engine.test.ts',
  'test/network/hostile.test.ts',
  'test/data-service/crawler/store-sessions.test.ts',
  'test/adapters/containers/capacity.test.ts',
  'test/adapters/containers/lifecycle.test.ts',
  'test/adapters/containers/hardened.test.ts',
  'test/adapters/containers/images/hostile.test.ts',
  'test/adapters/grpc-events/stubs.test.ts',
  'test/system/e2e/terminal.test.ts',
  'test/system/crash/votes.test.ts',
  'test/adapters/containers/grpc/sdk.test.ts',
  'test/adapters/signer/signer-socket.test.ts',
  'test/adapters/ntp.test.ts',
  'test/system/e2e/clients.test.ts',
  'test/adapters/containers/exec.test.ts',
  'test/adapters/http/server.test.ts',
  'test/system/e2e/connections.test.ts',
  'test/adapters/containers/images/disk-watch.test.ts',
  'test/adapters/containers/images/images.test.ts',
];
