/**
 * The messages of the gRPC interface as bytes. The .proto files beside this one define them; they
 * are read when the interface starts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { assert } from '../../../base/assert.ts';
import { contractLimits as limits } from '../../../base/limits/contract-limits.ts';
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
      const type = methods.get(name)!.resolvedRequestType!;
      const { value } = name === RESULTS ? limits.resultFields : limits.requestFields;
      requireFewFields(bytes, type, value);
      try {
        return type.decode(bytes) as never;
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

const RESULTS: RpcName = 'ContractService/CommitExecutionSuccess';

/**
 * Counts fields at every depth before objects are made: an empty key has two bytes, and a hundred in
 * memory. Throws GrpcRefusal.
 */
function requireFewFields(bytes: Uint8Array, type: protobuf.Type, fieldsMax: number): void {
  if (bytes.length <= Math.min(fieldsMax, limits.fields.value)) return;
  const reader = protobuf.Reader.create(bytes);
  let left = fieldsMax;
  const countIn = (of: protobuf.Type | undefined, end: number, most: number): void => {
    for (let fields = 0; reader.pos < end; fields++) {
      if (left-- === 0 || fields === most) {
        throw new GrpcRefusal('RESOURCE_EXHAUSTED', 'The message has too many fields');
      }
      const tag = reader.uint32();
      const inner = of?.fieldsById[tag >>> 3]?.resolvedType;
      const isMessage = (tag & 7) === WIRE_BYTES && inner instanceof protobuf.Type;
      if (isMessage) countIn(inner, reader.uint32() + reader.pos, fieldsMax);
      else reader.skipType(tag & 7);
    }
  };
  try {
    countIn(type, reader.len, limits.fields.value);
  } catch (cause) {
    if (cause instanceof GrpcRefusal) throw cause;
    throw new GrpcRefusal('INVALID_ARGUMENT', 'The message cannot be decoded');
  }
}

const WIRE_BYTES = 2;
