// A container as the published stubs of js-contract-grpc-client make it.
import { join } from 'node:path';
import { type ClientReadableStream, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { AddressServiceClient } from '@wavesenterprise/js-contract-grpc-client/contract/contract_address_service.js';
import {
  ContractServiceClient,
  type ContractTransactionResponse,
} from '@wavesenterprise/js-contract-grpc-client/contract/contract_contract_service.js';
import { PermissionServiceClient } from '@wavesenterprise/js-contract-grpc-client/contract/contract_permission_service.js';
import { PkiServiceClient } from '@wavesenterprise/js-contract-grpc-client/contract/contract_pki_service.js';
import { PrivacyServiceClient } from '@wavesenterprise/js-contract-grpc-client/contract/contract_privacy_service.js';
import { TransactionServiceClient } from '@wavesenterprise/js-contract-grpc-client/contract/contract_transaction_service.js';
import { UtilServiceClient } from '@wavesenterprise/js-contract-grpc-client/contract/contract_util_service.js';
import type { ContainerSession } from '../../../../src/adapters/containers/container-interface.ts';

export type SdkClient = ReturnType<typeof sdkClient>;
export type Received = ContractTransactionResponse;

/** The address that a client in the container makes, as the machine of the node sees it. */
export function addressOf({ setup }: ContainerSession): string {
  const { NODE, NODE_PORT } = setup.env as { NODE: string; NODE_PORT: string };
  const [mount] = setup.mounts;
  if (mount === undefined) return `${NODE}:${NODE_PORT}`;
  return `${NODE}:${join(mount.source, NODE_PORT.slice(mount.target.length))}`;
}

export function sdkClient(address: string) {
  const insecure = credentials.createInsecure();
  const services = {
    contract: new ContractServiceClient(address, insecure),
    address: new AddressServiceClient(address, insecure),
    permission: new PermissionServiceClient(address, insecure),
    privacy: new PrivacyServiceClient(address, insecure),
    transaction: new TransactionServiceClient(address, insecure),
    util: new UtilServiceClient(address, insecure),
    pki: new PkiServiceClient(address, insecure),
  };
  return {
    ...services,
    connect(connectionId: string, token: string): Stream {
      return streamOf(services.contract.connect({ connectionId }, metadata(token)));
    },
    close() {
      for (const service of Object.values(services)) service.close();
    },
  };
}

export function metadata(token?: string): Metadata {
  const result = new Metadata();
  if (token !== undefined) result.set('authorization', token);
  return result;
}

/** Makes a promise of a method of the stubs. */
export const ask = <Request, Response>(
  method: (
    request: Request,
    metadata: Metadata,
    callback: (error: ServiceError | null, response: Response) => void,
  ) => unknown,
  request: Request,
  token?: string,
): Promise<Response> =>
  new Promise((resolve, reject) => {
    method(request, metadata(token), (error, response) =>
      error === null ? resolve(response) : reject(error),
    );
  });

/** Status and metadata of a refusal. */
export async function refusal(
  answer: Promise<unknown>,
): Promise<{ status: number; code: string | undefined; message: string | undefined }> {
  try {
    await answer;
  } catch (cause) {
    const error = cause as ServiceError;
    return {
      status: error.code,
      code: error.metadata.get('error-code')[0]?.toString(),
      message: error.metadata.get('error-message')[0]?.toString() ?? error.details,
    };
  }
  throw new Error('was accepted');
}

export interface Stream {
  /** The next transaction. */
  next(): Promise<Received>;
  readonly received: readonly Received[];
  /** Resolves with the error that ended it. */
  readonly failed: Promise<ServiceError>;
  cancel(): void;
}

function streamOf(stream: ClientReadableStream<Received>): Stream {
  const received: Received[] = [];
  const waiting: ((one: Received) => void)[] = [];
  let taken = 0;
  const { promise: failed, resolve } = Promise.withResolvers<ServiceError>();
  stream.on('error', (error) => resolve(error as ServiceError));
  stream.on('data', (one: Received) => {
    received.push(one);
    const first = waiting.shift();
    if (first !== undefined) {
      taken++;
      first(one);
    }
  });
  return {
    received,
    failed,
    next() {
      const ready = received[taken];
      if (ready === undefined) return new Promise((done) => waiting.push(done));
      taken++;
      return Promise.resolve(ready);
    },
    cancel: () => stream.cancel(),
  };
}
