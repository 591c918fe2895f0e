/**
 * The messages of the service of events as bytes. The .proto files beside this one define them; the
 * values that the node gives are put into their types here.
 */
import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { eventLimits } from '../../base/limits/event-limits.ts';
import type {
  PlainMessage,
  SubscribeOn,
  TransactionFilter,
} from '../../base/ports/event-service.ts';
import { toInt64 } from '../containers/grpc/entries.ts';
import { GrpcRefusal } from '../containers/grpc/status.ts';

export const SUBSCRIBE_ON = '/wavesenterprise.BlockchainEventsService/SubscribeOn';

export interface EventMessages {
  /** Throws GrpcRefusal where the bytes are no request that can be met. */
  request(bytes: Uint8Array): SubscribeOn;
  event(event: PlainMessage): Uint8Array;
}

/** Filters of a request, and types and contracts of a filter. */
const FILTERS_MAX = eventLimits.filters.value;
const VALUES_MAX = eventLimits.values.value;
const FILES = ['transaction.proto', 'blockchain_events_service.proto'];

export function readEventProtos(): protobuf.Root {
  const root = new protobuf.Root();
  root.addJSON(protobuf.common.get('google/protobuf/wrappers.proto')!.nested!);
  for (const file of FILES) {
    protobuf.parse(readFileSync(new URL(`proto/${file}`, import.meta.url), 'utf8'), root);
  }
  root.resolveAll();
  return root;
}

interface Request {
  readonly genesisBlock?: object | null;
  readonly blockSignature?: {
    readonly lastBlockSignature?: { readonly value: Uint8Array } | null;
  } | null;
  readonly currentEvent?: object | null;
  readonly eventsFilters: readonly Filter[];
}

interface Filter {
  readonly filterOut?: object | null;
  readonly txTypeFilter?: { readonly txTypes: readonly number[] } | null;
  readonly contractIdFilter?: { readonly contractIds: readonly Uint8Array[] } | null;
}

export function readEventMessages(): EventMessages {
  const root = readEventProtos();
  const requests = root.lookupType('wavesenterprise.SubscribeOnRequest');
  const events = root.lookupType('wavesenterprise.BlockchainEvent');
  return {
    request(bytes) {
      let request: Request;
      try {
        request = requests.decode(bytes) as unknown as Request;
      } catch {
        throw new GrpcRefusal('INVALID_ARGUMENT', 'The message cannot be decoded');
      }
      if (request.eventsFilters.length > FILTERS_MAX) throw tooMany();
      return { from: startOf(request), filters: request.eventsFilters.map(filterOf) };
    },
    event: (event) => events.encode(typed(event, events)).finish(),
  };
}

const tooMany = (): GrpcRefusal =>
  new GrpcRefusal('RESOURCE_EXHAUSTED', 'The message has too many filters');

function startOf({ genesisBlock, blockSignature, currentEvent }: Request): SubscribeOn['from'] {
  if (genesisBlock) return 'genesis';
  if (currentEvent) return 'now';
  if (!blockSignature) throw missing('start_from');
  const blockId = blockSignature.lastBlockSignature?.value;
  if (blockId === undefined) throw missing('last_block_signature');
  return { blockId: Uint8Array.from(blockId) };
}

const missing = (field: string): GrpcRefusal =>
  new GrpcRefusal('INVALID_ARGUMENT', `Missing required field '${field}'`);

function filterOf({ filterOut, txTypeFilter, contractIdFilter }: Filter): TransactionFilter {
  const types = txTypeFilter?.txTypes;
  const contracts = contractIdFilter?.contractIds;
  if (Math.max(types?.length ?? 0, contracts?.length ?? 0) > VALUES_MAX) throw tooMany();
  return {
    isOut: filterOut !== null && filterOut !== undefined,
    types: types && [...types],
    contracts: contracts?.map((id) => Uint8Array.from(id)),
  };
}

/** The fields that the message has, in its types; absent values are left out. */
function typed(value: PlainMessage, type: protobuf.Type): protobuf.Message {
  const made: Record<string, unknown> = {};
  for (const field of type.fieldsArray) {
    const given = value[field.name];
    if (given === undefined || given === null) continue;
    const one = (item: unknown): unknown => typedValue(item, field);
    made[field.name] = field.repeated ? Array.from(given as Iterable<unknown>, one) : one(given);
  }
  return type.create(made);
}

function typedValue(value: unknown, field: protobuf.Field): unknown {
  const { resolvedType } = field;
  if (resolvedType instanceof protobuf.Type) {
    const isWrapper = resolvedType.fullName.startsWith('.google.protobuf.');
    return typed(isWrapper ? { value } : (value as PlainMessage), resolvedType);
  }
  if (field.type === 'int64') {
    return { ...toInt64(BigInt(value as number | bigint)), unsigned: false };
  }
  if (field.type === 'bytes' && typeof value === 'string') return Buffer.from(value);
  return value;
}
