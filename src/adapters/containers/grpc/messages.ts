/**
 * The messages of the gRPC interface as bytes. The .proto files beside this one define them; they
 * are read when the interface starts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { assert } from '../../../base/assert.ts';
import { FIELDS_MAX } from './limits.ts';
import type { RequestOf, ResponseOf, RpcName } from './rpcs.ts';
import { GrpcRefusal } from './status.ts';

export interface Messages {
  /** The name of the procedure at a path of HTTP, where it exists. */
  rpcAt(path: string): RpcName | undefined;
  /** Throws GrpcRefusal where the bytes are no such message. */
  request<N extends RpcName>(name: N, bytes: Uint8Array): RequestOf<N>;
  response<N extends RpcName>(name: N, message: ResponseOf<N>): Uint8Array;
}

/** In all .proto files. */
const PACKAGE = 'wavesenterprise';

export function readMessages(): Messages {
  const root = readProtos();
  const methods = new Map<string, protobuf.Method>();
  for (const service of namespaceOf(root).nestedArray) {
    if (!(service instanceof protobuf.Service)) continue;
    for (const method of service.methodsArray) {
      method.resolve();
      methods.set(`${service.name}/${method.name}`, method);
    }
  }
  const rpcs = new Map([...methods.keys()].map((name) => [`/${PACKAGE}.${name}`, name as RpcName]));
  return {
    rpcAt: (path) => rpcs.get(path),
    request(name, bytes) {
      requireFewFields(bytes);
      try {
        return methods.get(name)!.resolvedRequestType!.decode(bytes) as never;
      } catch {
        throw new GrpcRefusal('INVALID_ARGUMENT', 'The message cannot be decoded');
      }
    },
    response: (name, message) =>
      methods
        .get(name)!
        .resolvedResponseType!.encode(message as never)
        .finish(),
  };
}

/** The files and the messages of google.protobuf that they import. */
export function readProtos(): protobuf.Root {
  const folder = new URL('proto/', import.meta.url);
  const root = new protobuf.Root();
  for (const name of ['empty', 'wrappers']) {
    root.addJSON(protobuf.common.get(`google/protobuf/${name}.proto`)!.nested!);
  }
  for (const file of readdirSync(folder)) {
    protobuf.parse(readFileSync(new URL(file, folder), 'utf8'), root);
  }
  root.resolveAll();
  return root;
}

function namespaceOf(root: protobuf.Root): protobuf.Namespace {
  const found = root.lookup(PACKAGE);
  assert(found instanceof protobuf.Namespace, 'the files define the package');
  return found;
}

/** Counts before objects are made: an empty entry has two bytes and a hundred in memory. */
function requireFewFields(bytes: Uint8Array): void {
  if (bytes.length <= FIELDS_MAX) return;
  const reader = protobuf.Reader.create(bytes);
  try {
    for (let fields = 0; reader.pos < reader.len; fields++) {
      if (fields === FIELDS_MAX) break;
      reader.skipType(reader.uint32() & 7);
    }
  } catch {
    throw new GrpcRefusal('INVALID_ARGUMENT', 'The message cannot be decoded');
  }
  if (reader.pos < reader.len) {
    throw new GrpcRefusal('RESOURCE_EXHAUSTED', `The message has more than ${FIELDS_MAX} fields`);
  }
}
