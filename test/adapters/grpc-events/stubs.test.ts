/**
 * The service of events as applications use it: the unmodified stubs of js-contract-grpc-client, and a
 * node with a transaction of every type.
 */
import { credentials } from '@grpc/grpc-js';
import {
  BlockchainEvent,
  type BlockchainEvent as Event,
} from '@wavesenterprise/js-contract-grpc-client/messagebroker/messagebroker_blockchain_event.js';
import { BlockchainEventsServiceClient } from '@wavesenterprise/js-contract-grpc-client/messagebroker/messagebroker_blockchain_events_service.js';
import { SubscribeOnRequest } from '@wavesenterprise/js-contract-grpc-client/util/events/util_events_subscribe_on_request.js';
import protobuf from 'protobufjs';
import t, { type Test } from 'tap';
import { listenForSubscribers } from '../../../src/adapters/grpc-events/event-listener.ts';
import { readEventProtos } from '../../../src/adapters/grpc-events/event-messages.ts';
import { systemClock } from '../../../src/adapters/system.ts';
import { stringify } from '../../../src/base/json/json.ts';
import type { ListenEvents } from '../../../src/base/ports/event-service.ts';
import { headerRowAt, transactionsAt } from '../../../src/chain/store/stored-blocks.ts';
import { txToJson } from '../../../src/tx/json/encode.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { ROUND_MS } from '../../node/in-process.ts';
import { type Populated, populated } from '../../node/populated.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

async function served(t: Test, subscriptionsMax = 10, subscriptionsOfClientMax = 10) {
  const options = { host: '127.0.0.1', port: 0, subscriptionsMax, subscriptionsOfClientMax };
  let port = 0;
  const listenEvents: ListenEvents = async (service) => {
    const listener = await listenForSubscribers(options, service, systemClock(undefined));
    ({ port } = listener);
    return listener;
  };
  const of = await populated(t, { around: (ports) => ({ ...ports, listenEvents }) });
  const address = `127.0.0.1:${port}`;
  const client = new BlockchainEventsServiceClient(address, credentials.createInsecure());
  t.teardown(() => client.close());
  return { of, client };
}

type Request = Parameters<typeof SubscribeOnRequest.fromPartial>[0];

interface Subscribed {
  readonly events: Event[];
  until(holds: (events: readonly Event[]) => boolean): Promise<void>;
  readonly ended: Promise<string>;
  cancel(): void;
}

function subscribed(t: Test, client: BlockchainEventsServiceClient, request: Request): Subscribed {
  const call = client.subscribeOn(SubscribeOnRequest.fromPartial(request));
  const events: Event[] = [];
  call.on('data', (event: Event) => events.push(event));
  const ended = new Promise<string>((resolve) => {
    call.on('error', ({ message }) => resolve(message));
    call.on('end', () => resolve(''));
  });
  t.teardown(() => call.cancel());
  return {
    events,
    async until(holds) {
      for (let i = 0; !holds(events); i++) {
        if (i > 1000) throw new Error(`in vain: ${events.length} events`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    ended,
    cancel: () => call.cancel(),
  };
}

const heightOf = (event: Event | undefined): number =>
  Number(event?.appendedBlockHistory?.height ?? event?.blockAppended?.height ?? 0);

async function grow(of: Populated, ...txs: readonly Tx[]): Promise<void> {
  for (const tx of txs) await of.node.pool.submit(tx);
  await of.clock.advance(ROUND_MS);
  await of.produceBlock();
}

const txsOf = (events: readonly Event[]) =>
  events.flatMap(({ appendedBlockHistory: history, microBlockAppended: part }) => [
    ...(history?.txs ?? []),
    ...(part?.txs ?? []),
  ]);

type Sent = ReturnType<typeof txsOf>[number];

/** The transaction itself, whatever its type. */
const inner = (tx: Sent) =>
  Object.values(tx).find((value) => typeof value === 'object') as {
    readonly id: Uint8Array;
    readonly senderPublicKey: Uint8Array;
  };

t.test('history, new blocks, rollbacks', async (t) => {
  const { of, client } = await served(t);
  const { view } = of.node.blockchain;
  const tip = () => of.node.blockchain.tip();
  const rollback = (height: number) => of.node.blockchain.rollback(height);
  const all = subscribed(t, client, { genesisBlock: {} });
  const before = tip().height;
  await all.until((events) => heightOf(events.at(-1)) === before);
  t.strictSame(
    all.events.map(heightOf),
    Array.from({ length: before }, (_, i) => i + 1),
  );
  for (const { appendedBlockHistory: block } of all.events) {
    const { header, fee, blockSize } = headerRowAt(view, Number(block!.height))!;
    t.equal(hex(block!.blockSignature), hex(header.signature));
    t.equal(hex(block!.reference), hex(header.reference));
    t.equal(hex(block!.minerAddress), hex(of.scheme.addressOf(header.generator)));
    t.strictSame(
      [Number(block!.timestamp), BigInt(block!.fee.toString()), block!.blockSize, block!.version],
      [header.timestamp, fee, blockSize, header.version],
    );
    const sent = block!.txs.map((tx) => hex(inner(tx).id));
    const stored = transactionsAt(view, Number(block!.height)).filter(({ type }) => type !== 7);
    t.strictSame(
      sent,
      stored.map(({ id }) => hex(id)),
    );
  }
  const [owner, one] = of.accounts;
  const transfer = of.transfer(owner, one, 77);
  const mark = tip();
  await grow(of, transfer);
  await all.until((events) => events.at(-1)?.blockAppended !== undefined);
  const [part, block] = all.events.slice(before);
  t.ok(part!.microBlockAppended!.txs.some((tx) => hex(inner(tx).id) === hex(transfer.id)));
  t.strictSame(
    block!.blockAppended!.txIds.map(hex),
    part!.microBlockAppended!.txs.map((tx) => hex(inner(tx).id)),
  );
  const seen = all.events.length;
  await rollback(mark.height);
  await all.until((events) => events.length > seen);
  const { rollbackCompleted } = all.events[seen]!;
  t.equal(hex(rollbackCompleted!.returnToBlockSignature), hex(mark.id));
  t.strictSame(rollbackCompleted!.rollbackTxIds.map(hex), block!.blockAppended!.txIds.map(hex));
  await grow(of);
  await all.until((events) => heightOf(events.at(-1)) === before + 1);

  const rest = subscribed(t, client, {
    blockSignature: { lastBlockSignature: headerRowAt(view, 2)!.header.signature },
  });
  await rest.until((events) => heightOf(events.at(-1)) === tip().height);
  t.equal(heightOf(rest.events[0]), 3, 'from the block after the named one');
  const now = subscribed(t, client, { currentEvent: {} });
  await new Promise((resolve) => setTimeout(resolve, 500));
  await grow(of);
  await now.until((events) => events.length > 0);
  t.equal(heightOf(now.events.at(-1)), tip().height);
  await of.stop();
  t.match(await now.ended, /UNAVAILABLE/);
});

t.test('every type with its fields', async (t) => {
  const { of, client } = await served(t);
  const tip = () => of.node.blockchain.tip();
  const all = subscribed(t, client, { genesisBlock: {} });
  await all.until((events) => heightOf(events.at(-1)) === tip().height);
  const sent = new Map(txsOf(all.events).map((tx) => [hex(inner(tx).id), tx]));
  const expected = [...of.byType.values()].filter(({ type }) => type !== 7);
  t.equal(sent.size >= expected.length, true);
  for (const tx of expected) {
    const made = sent.get(hex(tx.id))!;
    const name = `${tx.def.name[0]!.toLowerCase()}${tx.def.name.slice(1)}`;
    const fields = (made as unknown as Record<string, Record<string, unknown>>)[name]!;
    t.equal(made.version, tx.version, name);
    const json = txToJson(tx, of.scheme);
    t.equal(Number(fields['timestamp']), tx.timestamp, name);
    if ('fee' in fields) t.equal(String(fields['fee']), String(tx.fee), name);
    for (const key of [
      'amount',
      'quantity',
      'decimals',
      'policyName',
      'image',
      'contractVersion',
    ]) {
      if (key in fields && key in json)
        t.equal(String(fields[key]), stringify(json[key]).replaceAll('"', ''), key);
    }
    const absent = Object.entries(fields).filter(([, value]) => value === undefined);
    t.ok(
      absent.every(([key]) => json[key] === undefined || json[key] === null),
      `${name} lacks ${absent.map(([key]) => key)}`,
    );
  }
  const of105 = sent.get(hex(of.byType.get(105)!.id))!.executedContractTransaction!;
  t.match(of105.results, [{ key: 'sum', intValue: { low: 5 } }]);
  t.ok(of105.tx?.callContractTransaction ?? of105.tx?.createContractTransaction);
  const data = sent.get(hex(of.byType.get(12)!.id))!.dataTransaction!;
  t.match(
    data.data.map(({ key }) => key),
    ['integer key', 'boolean key', 'string key'],
  );
});

t.test('filters', async (t) => {
  const { of, client } = await served(t);
  const { height } = of.node.blockchain.tip();
  const names = async (eventsFilters: NonNullable<Request['eventsFilters']>) => {
    const some = subscribed(t, client, { genesisBlock: {}, eventsFilters });
    await some.until((events) => heightOf(events.at(-1)) === height);
    t.equal(some.events.length, height, 'all blocks come');
    some.cancel();
    const found = txsOf(some.events).map((tx) =>
      Object.entries(tx).find(([, value]) => typeof value === 'object'),
    );
    return [...new Set(found.map((entry) => entry![0]))];
  };
  t.strictSame(await names([{ filterIn: {}, txTypeFilter: { txTypes: [4, 12] } }]), [
    'dataTransaction',
    'transferTransaction',
  ]);
  const out = await names([{ filterOut: {}, txTypeFilter: { txTypes: [4, 12] } }]);
  t.ok(out.length > 10 && !out.includes('transferTransaction'));
  const contractIds = [of.byType.get(106)!.def.contract!(of.byType.get(106)!)];
  const calls = [
    { filterIn: {}, contractIdFilter: { contractIds } },
    { filterIn: {}, txTypeFilter: { txTypes: [105] } },
  ];
  t.strictSame(await names(calls), ['executedContractTransaction']);
  const others = [
    { filterIn: {}, contractIdFilter: { contractIds: [new Uint8Array(32)] } },
    calls[1]!,
  ];
  t.strictSame(await names(others), []);
});

t.test('refusals', async (t) => {
  const { client } = await served(t, 2);
  t.match(await subscribed(t, client, {}).ended, /INVALID_ARGUMENT.*start_from/);
  const unknown = { blockSignature: { lastBlockSignature: new Uint8Array(64) } };
  t.match(await subscribed(t, client, unknown).ended, /INVALID_ARGUMENT|NOT_FOUND/);
  t.match(await subscribed(t, client, { blockSignature: {} }).ended, /last_block_signature/);
  const eventsFilters = Array.from({ length: 17 }, () => ({ filterIn: {} }));
  t.match(
    await subscribed(t, client, { currentEvent: {}, eventsFilters }).ended,
    /RESOURCE_EXHAUSTED/,
  );
  const two = [1, 2].map(() => subscribed(t, client, { genesisBlock: {} }));
  for (const one of two) await one.until((events) => events.length > 0);
  t.match(await subscribed(t, client, { genesisBlock: {} }).ended, /UNAVAILABLE/);
  two[0]!.cancel();
  for (let refused = true; refused; ) {
    const again = subscribed(t, client, { genesisBlock: {} });
    refused = await Promise.race([
      again.ended.then(() => true),
      again.until((e) => e.length > 0).then(() => false),
    ]);
  }
  t.pass('a place came back');
});

t.test('one client has its share of the subscriptions', async (t) => {
  const { client } = await served(t, 10, 2);
  const two = [1, 2].map(() => subscribed(t, client, { genesisBlock: {} }));
  for (const one of two) await one.until((events) => events.length > 0);
  t.match(await subscribed(t, client, { genesisBlock: {} }).ended, /UNAVAILABLE/);
});

t.test('the .proto files say what the stubs encode', (t) => {
  const root = readEventProtos();
  const event = root.lookupType('wavesenterprise.BlockchainEvent');
  const request = root.lookupType('wavesenterprise.SubscribeOnRequest');
  t.equal(filledOf(event, BlockchainEvent), '');
  t.equal(filledOf(request, SubscribeOnRequest), '');
  t.end();
});

/** What the stubs lose of a message with a value in every field; '' where that is nothing. */
function filledOf(
  type: protobuf.Type,
  stub: { decode(bytes: Uint8Array): unknown; encode(message: never): { finish(): Uint8Array } },
): string {
  for (const field of type.fieldsArray) {
    const message = type.create({ [field.name]: filled(field, 0) });
    const bytes = type.encode(message).finish();
    const again = stub.encode(stub.decode(bytes) as never).finish();
    // The order of fields may differ, so both are read by one reader.
    const shown = (from: Uint8Array): string => JSON.stringify(type.decode(from).toJSON());
    if (shown(again) !== shown(bytes)) return `${shown(bytes)}\n${shown(again)}`;
  }
  return '';
}

function filled(field: protobuf.Field, depth: number): unknown {
  const one = valueIn(field, depth);
  return field.repeated ? [one] : one;
}

function valueIn({ type, resolvedType }: protobuf.Field, depth: number): unknown {
  if (resolvedType instanceof protobuf.Type) {
    const members = depth > 5 ? [] : resolvedType.fieldsArray;
    // One of several: the last one wins, so all but the first of them are left out.
    const chosen = members.filter(
      (one) => one.partOf === null || one.partOf.fieldsArray[0] === one,
    );
    return resolvedType.create(
      Object.fromEntries(chosen.map((one) => [one.name, filled(one, depth + 1)])),
    );
  }
  if (type === 'bytes') return Uint8Array.of(7, depth);
  if (type === 'string') return 'text';
  return type === 'bool' ? true : 5;
}
