// The gRPC interface with one session, for the time of a test.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContainerNetwork } from '../../../../src/adapters/containers/container-interface.ts';
import {
  type GrpcOptions,
  grpcInterface,
} from '../../../../src/adapters/containers/grpc/interface.ts';
import { systemClock, systemRandom } from '../../../../src/adapters/system.ts';
import { quiet } from '../../../chain/chain-harness.ts';
import { image } from './executions.ts';
import { addressOf, sdkClient } from './sdk-client.ts';

export const connectionId = '0123456789abcdef';
export const ports = { clock: systemClock(), random: systemRandom, log: quiet };

/** Of one container. */
export const ownNetwork: ContainerNetwork = { gateway: '127.0.0.1', includes: () => true };
/** Of an engine whose containers all have the address of its gateway. */
export const translated: ContainerNetwork = { gateway: '127.0.0.1', includes: () => false };

export interface Scope {
  teardown(action: () => unknown): void;
}

export async function opened(
  scope: Scope,
  { tokenLifetimeMs = 60_000, listen }: Partial<GrpcOptions> = {},
) {
  const folder = join(mkdtempSync(join(tmpdir(), 'grpc-')), 'sockets');
  const grpc = await grpcInterface(
    { listen: listen ?? { kind: 'unix', folder }, tokenLifetimeMs },
    ports,
  );
  scope.teardown(async () => {
    await grpc.close();
    rmSync(join(folder, '..'), { recursive: true, force: true });
  });
  const open = async (id = connectionId, network?: ContainerNetwork) => {
    const session = await grpc.open({ connectionId: id, image, network });
    scope.teardown(() => session.close());
    return { session, token: session.setup.env['CONNECTION_TOKEN']! };
  };
  return { grpc, open, folder };
}

/** A session whose container has connected. */
export async function connected(scope: Scope, options: Partial<GrpcOptions> = {}) {
  const { open, ...rest } = await opened(scope, options);
  const { session, token } = await open();
  const client = sdkClient(addressOf(session));
  scope.teardown(client.close);
  const ready = session.ready('container', AbortSignal.timeout(10_000));
  const stream = client.connect(connectionId, token);
  await ready;
  return { ...rest, open, session, token, client, stream };
}

/** Never aborts. */
export const patient = new AbortController().signal;
