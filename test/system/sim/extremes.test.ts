/**
 * The largest, the smallest and the one-too-large of every member of every transaction that a client
 * may send, on a network of four nodes: sent to the REST interface of one, they travel through its
 * pool, gossip, blocks, a restart, the sync of a node that comes later, and a chain file.
 * EXTREMES=all takes every version of every type, and not only those that the network knows.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { equal, utf8 } from '../../../src/base/bytes.ts';
import { ApiError } from '../../../src/base/errors.ts';
import { parse, stringify } from '../../../src/base/json/json.ts';
import type { HttpReply, HttpRequest, HttpRoute } from '../../../src/base/ports/http.ts';
import { blockId } from '../../../src/block/block.ts';
import { importBlocks } from '../../../src/chain/import/import-blocks.ts';
import { blockAt, confirmedHeight } from '../../../src/chain/store/stored-blocks.ts';
import { readChainFile, writeChainFile } from '../../../src/cli/commands/chain/chain-file.ts';
import { base58 } from '../../../src/codec/text.ts';
import { executedBy } from '../../../src/ledger/contracts.ts';
import type { Node } from '../../../src/node/node.ts';
import { openBlockchain } from '../../../src/node/open-blockchain.ts';
import { createApi } from '../../../src/rest/api.ts';
import { isSigned, signedBytes } from '../../../src/tx/assemble.ts';
import { txFromJson, txToJson } from '../../../src/tx/json/encode.ts';
import { types } from '../../../src/tx/registry.ts';
import { feature } from '../../../src/tx/rules/features.ts';
import { TX_BYTES_MAX } from '../../../src/tx/size.ts';
import type { Layout, Tx } from '../../../src/tx/transaction.ts';
import { permit } from '../../../src/tx/types/102-permit.ts';
import { type Account, miners, quiet, scheme, users } from '../../chain/chain-harness.ts';
import { actions, newScene, type Scene, sign } from '../../generators/actions.ts';
import { at, extremesOf, type Json, membersOf, type Path, put } from '../../generators/extremes.ts';
import { Rng } from '../../generators/random.ts';
import {
  type SimulatedContainers,
  simulatedContainers,
  success,
} from '../../simulated/containers.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';
import { disagreement } from './checkers.ts';
import { Cluster } from './cluster.ts';
import type { SimNode } from './node.ts';
import { LENGTH_MS, memberOf } from './settings.ts';
import type { NodeClock } from './world.ts';

const ALL = process.env['EXTREMES'] === 'all';
const DISABLE_CONTRACT = 106;
const POLICY_DATA_HASH = 114;
const ATTEMPTS = 60;
const SAMPLES = 5;
/** Time of a call of a contract, and of the start of its container. */
const CALL_MS = 20;

t.setTimeout(3_600_000);

const everybody: readonly Account[] = [...miners, ...users];

/** Members that stand for somebody or something else: another value is another transaction. */
const IDENTITIES = new Set(['senderPublicKey', 'authorPublicKey', 'proofs', 'signature']);

interface Base {
  readonly json: Json;
  readonly tx: Tx;
  /** Tells the scene that this was accepted: where it was altered, the scene knows nothing by its id. */
  readonly done: (sent: Tx) => void;
}

class Sender {
  readonly scene: Scene;
  readonly accepted: Tx[] = [];
  readonly byType = new Map<number, number>();
  refused = 0;
  private readonly cluster: Cluster;
  /** Of the node that clients talk to. */
  i = 0;

  constructor(cluster: Cluster) {
    this.cluster = cluster;
    this.scene = newScene(new Rng(7));
    this.scene.generator = miners[0]!;
  }

  get node(): SimNode {
    return this.cluster.nodes[this.i]!;
  }

  /** A good transaction in this layout; undefined where the state has no place for one. */
  async base(type: number, layout: Layout): Promise<Base | undefined> {
    // No other sample makes a feature active.
    const attempts = layout.feature === undefined || isKnown(layout.feature) ? ATTEMPTS : 1;
    for (let i = 0; i < ATTEMPTS; i++) {
      this.scene.now = this.cluster.world.now - 500;
      const attempt = actions[type]!(this.scene);
      if (attempt === undefined) continue;
      const tx = attempt.tx.def.inner?.(attempt.tx) ?? attempt.tx;
      const { id: _id, sender: _sender, signature: _s, ...json } = jsonOf(tx);
      const asked = { feeAssetId: null, atomicBadge: null, ...json, version: layout.version };
      const made = this.signed(asked);
      if (made === undefined || made.tx.layout !== layout) continue;
      // One that is refused whatever it holds: its extremes are, too.
      if (i < attempts - 1 && !(await this.isGood(made.tx))) continue;
      return {
        ...made,
        done(sent) {
          if (equal(sent.id, tx.id)) attempt.accepted?.();
        },
      };
    }
    return undefined;
  }

  /** The state of the node accepts it. */
  async isGood(tx: Tx): Promise<boolean> {
    try {
      await this.node.pool.check(tx);
      return true;
    } catch (error) {
      if (error instanceof ApiError) return false;
      throw error;
    }
  }

  /** With the least fee that it may have and a good signature; undefined where it has no bytes. */
  signed(json: Json, keepFee = false): { json: Json; tx: Tx } | undefined {
    const draft = readable({ ...json, proofs: [zeros], signature: zeros });
    if (draft === undefined) return undefined;
    const priced = keepFee ? json : { ...json, fee: this.feeOf(draft) };
    const unsigned = readable({ ...priced, proofs: [zeros], signature: zeros });
    const from = everybody.find(({ publicKey }) => equal(publicKey, draft.senderPublicKey));
    if (unsigned === undefined || from === undefined) return undefined;
    const proof = base58.encode(from.sign(signedBytes(unsigned)));
    const evidence = isSigned(draft.layout.frame) ? { signature: proof } : { proofs: [proof] };
    const whole = { ...priced, ...evidence };
    const tx = readable(whole);
    return tx && { json: whole, tx };
  }

  private feeOf(tx: Tx): bigint {
    try {
      return this.node.inner!.services.feeOf(tx).feeAmount;
    } catch (error) {
      // The asset that pays the fee does not exist, for instance: the transaction is refused.
      if (error instanceof ApiError) return tx.fee;
      throw error;
    }
  }

  /** To the REST interface, as a client would. */
  async post(json: Json): Promise<HttpReply> {
    const reply = Promise.resolve(
      broadcastOf(this.node.inner!).handle(request, utf8(stringify(json))),
    );
    // Virtual time: what waits for the disk is answered while time passes.
    let answer: HttpReply | undefined;
    void reply.then((value) => {
      answer = value;
    });
    for (let ms = 0; answer === undefined && ms < 5_000; ms += 20) await this.cluster.run(20);
    return answer!;
  }

  async send(made: { json: Json; tx: Tx }): Promise<boolean> {
    if (made.tx.type === POLICY_DATA_HASH) {
      // Taken from clients only with its data; peers hand it on without.
      const sent = this.cluster.submit(this.node, made.tx);
      await this.cluster.run(50);
      return this.count(made.tx, await sent);
    }
    const { status, body } = await this.post(made.json);
    if (status >= 500) throw new Error(`${status} ${String(body).slice(0, 300)}`);
    if (status === 200) this.cluster.checkers.noteAccepted(this.node, made.tx);
    else code(body);
    return this.count(made.tx, status === 200);
  }

  private count(tx: Tx, isAccepted: boolean): boolean {
    if (isAccepted) {
      // An extreme may be what the sample has already.
      if (!this.accepted.some(({ id }) => equal(id, tx.id))) this.accepted.push(tx);
      this.byType.set(tx.type, (this.byType.get(tx.type) ?? 0) + 1);
    } else this.refused++;
    return isAccepted;
  }
}

/** The route of each node; to make them all takes longer than to answer. */
const broadcasts = new WeakMap<Node, HttpRoute>();

function broadcastOf(node: Node): HttpRoute {
  const known = broadcasts.get(node);
  if (known !== undefined) return known;
  const route = createApi(node.services).find(
    ({ method, pattern }) => method === 'POST' && pattern === '/transactions/broadcast',
  )!;
  broadcasts.set(node, route);
  return route;
}

/** Others are refused whatever a transaction holds. */
const isKnown = (id: number): boolean => id < feature.sponsoredFees;

const zeros = base58.encode(new Uint8Array(64));
const request = { header: () => '' } as unknown as HttpRequest;
const jsonOf = (tx: Tx): Json => parse(stringify(txToJson(tx, scheme))) as Json;

/** The number of a refusal; throws where it has none. */
function code(body: string | Uint8Array): number {
  const { error } = JSON.parse(String(body));
  if (typeof error !== 'number' || error === 0) throw new Error(`no refusal: ${body}`);
  return error;
}

function readable(json: Json): Tx | undefined {
  try {
    return txFromJson(json, scheme);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** What the samples need of their senders. Half of the accounts has none, and may have a script. */
const ROLES = ['dex', 'issuer', 'contract_developer'];

const permitted = ({ scene }: Sender, { address }: Account, role: string): Tx =>
  sign(scene, permit, miners[0]!, 1, {
    target: { kind: 'address', bytes: address },
    opType: 'add',
    role,
    dueTimestamp: undefined,
  });

/** The extremes of one layout; gives how many were accepted. */
async function sendExtremes(sender: Sender, cluster: Cluster, type: number, layout: Layout) {
  const sample = await sender.base(type, layout);
  if (sample === undefined) return;
  const accepts = (json: Json): boolean => readable(json) !== undefined;
  const paths = membersOf(sample.tx, sample.json).filter(([name]) => !IDENTITIES.has(`${name}`));
  await sendOne([]);
  const largest: [Path, unknown][] = [];
  for (const path of paths) {
    const found = extremesOf(sample.json, path, accepts);
    if (found === undefined) continue;
    largest.push([path, found.largest]);
    for (const value of [found.smallest, found.largest]) await sendOne([[path, value]]);
    // As many of the largest items as there is room for.
    const [list, , inItem] = path;
    if (inItem !== undefined) {
      const full = extremesOf(put(sample.json, path, found.largest), [list!], accepts);
      if (full !== undefined) await sendOne([[full.path, full.largest]]);
    }
    for (const value of found.beyond) {
      const { status, body } = await sender.post(put(sample.json, path, value));
      if (status < 400 || status >= 500) throw new Error(`${type} ${path}: ${status} ${body}`);
      code(body);
    }
  }
  await sendOne(largest.filter(([path]) => path.length === 1 && path[0] !== 'fee'));

  async function sendOne(values: readonly [Path, unknown][]): Promise<void> {
    const keepFee = values.some(([path]) => path[0] === 'fee');
    let base: Base | undefined;
    let made: ReturnType<typeof sender.signed>;
    // What the state refuses beside one sample it may accept beside another.
    for (let i = 0; i < SAMPLES; i++) {
      if (made !== undefined && (await sender.isGood(made.tx))) break;
      base = await sender.base(type, layout);
      if (base === undefined) return;
      let { json } = base;
      if (values.some(([path]) => at(json, path.slice(0, -1)) === undefined)) return;
      for (const [path, value] of values) json = put(json, path, value);
      made = sender.signed(json, keepFee);
    }
    if (made === undefined) return;
    const { bytes } = sender.node.pool;
    // A sender has a tenth of the pool: make room by a block.
    if (bytes() + made.tx.bytes.length > 300_000) await cluster.run(2 * LENGTH_MS);
    if (await sender.send(made)) base?.done(made.tx);
  }
}

/** An engine that has every image; each contract answers with the parameters of its call. */
const echoing = (clock: NodeClock): SimulatedContainers =>
  simulatedContainers({
    clock,
    programs: () => (execution) => success(...execution.transaction.params),
    startMs: CALL_MS,
    timeoutMs: 10 * CALL_MS,
    callMs: () => CALL_MS,
  });

t.test('extremes on four nodes, one of which comes later', async (t) => {
  const members = [0, 1, 2, 3].map((i) => memberOf(i));
  const offences: string[] = [];
  const dropped: string[] = [];
  const cluster = new Cluster({
    seed: 21,
    consensus: 'poa',
    members,
    quorum: 0,
    acquainted: true,
    engine: echoing,
    trace: (line) => {
      if (line.includes('peer.offence')) offences.push(line);
      if (line.includes('pool.dropped')) dropped.push(line);
    },
  });
  for (const i of [0, 1, 2]) cluster.start(i);
  await cluster.run(2 * LENGTH_MS);
  const sender = new Sender(cluster);
  const numbers = Object.keys(actions)
    .map(Number)
    .filter((type) => type !== DISABLE_CONTRACT);
  // No contract is left after these.
  numbers.push(DISABLE_CONTRACT);

  sender.scene.now = cluster.world.now - 500;
  for (const one of everybody.filter((_, i) => i % 2 === 0)) {
    for (const role of ROLES) {
      const tx = permitted(sender, one, role);
      await sender.send({ json: jsonOf(tx), tx });
    }
  }
  await cluster.run(2 * LENGTH_MS);

  // Something of everything, so that later transactions have what they refer to.
  for (let turn = 0; turn < 8; turn++) {
    for (const type of numbers) {
      sender.scene.now = cluster.world.now - 500;
      const attempt = actions[type]!(sender.scene);
      if (attempt === undefined) continue;
      // A miner executes what its 105 would carry.
      const tx = attempt.tx.def.inner?.(attempt.tx) ?? attempt.tx;
      if (await sender.send({ json: jsonOf(tx), tx })) attempt.accepted?.();
    }
    await cluster.run(2 * LENGTH_MS);
  }

  for (const type of numbers) {
    const def = types.get(type);
    const layouts = def!.layouts.filter(
      ({ feature: id }) => ALL || id === undefined || isKnown(id),
    );
    for (const layout of layouts) await sendExtremes(sender, cluster, type, layout);
    // Their node dies with what waits in its journal, and clients go on with another one.
    cluster.kill(sender.i, 1);
    sender.i = (sender.i + 1) % 3;
    await cluster.run(3 * LENGTH_MS);
  }

  cluster.start(3);
  const isWhole = (): boolean =>
    cluster.running().length === 4 &&
    cluster.running().every(({ pool }) => pool.size() === 0) &&
    disagreement(cluster.running()) === undefined;
  t.ok(await cluster.runUntil(isWhole, 600_000), `${disagreement(cluster.running())}`);
  await cluster.run(3 * LENGTH_MS);
  t.comment(`${sender.accepted.length} accepted, ${sender.refused} refused`);
  t.comment(`${dropped.length} left a pool unmined`);
  t.ok(sender.accepted.length > 60, `${sender.accepted.length} accepted`);
  for (const type of numbers) {
    t.ok((sender.byType.get(type) ?? 0) > 0, `some of type ${type}`);
  }
  for (const type of [12, 112, 113]) {
    const sizes = sender.accepted.filter((tx) => tx.type === type).map(({ bytes }) => bytes.length);
    const largest = Math.max(...sizes);
    t.ok(largest > 0.8 * TX_BYTES_MAX, `a type ${type} of ${largest} bytes`);
  }
  cluster.nothingLost();
  const [first, ...others] = cluster.running();
  const have = ({ blockchain: { view } }: SimNode): number =>
    sender.accepted.filter(
      ({ id }) => confirmedHeight(view, id) !== undefined || executedBy(view, id) !== undefined,
    ).length;
  const all = have(first!);
  t.ok(all > 0.8 * sender.accepted.length, `${all} are in the chain`);
  for (const node of others) t.equal(have(node), all, `${node.name} has all of them`);
  for (const node of cluster.running()) {
    t.equal(node.peers.sessions.all().length, 3, `${node.name} has all its peers`);
  }
  t.strictSame(offences, [], 'nobody is blamed');

  await t.test('through a chain file', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'extremes-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    const { blockchain, config } = first!;
    const { genesis, verifier } = cluster.ground;
    const { height } = blockchain.tip();
    const blocks = Array.from({ length: height - 1 }, (_, i) => blockAt(blockchain.view, i + 2)!);
    const path = join(folder, 'chain');
    await writeChainFile(path, blockId(genesis), 2, blocks);
    const file = await readChainFile(path, scheme);
    const ports = { scheme, store: createMemoryStore(), verifier, clock: first!.clock, log: quiet };
    const empty = await openBlockchain(config, genesis, ports);
    const importing = importBlocks(empty.blockchain, verifier, file.blocks, { from: file.from });
    let count: number | undefined;
    void importing.then((value) => {
      count = value;
    });
    while (count === undefined) await cluster.run(1_000);
    t.ok(count >= all);
    t.strictSame(empty.blockchain.stateHash(height), blockchain.stateHash(height));
  });
  cluster.end();
});
