/**
 * Misbehaviours of a registered miner among three honest ones (row R6 of the goals; scenarios of
 * protocol.md §13). After each the honest nodes share one chain that has grown as if the maverick
 * had merely been silent, no honest node has blamed another, and the maverick was dealt with as
 * §10.7 says.
 */
import t, { type Test } from 'tap';
import { concat } from '../../src/base/bytes.ts';
import { decodeBlock } from '../../src/block/block.ts';
import type { OwnHello } from '../../src/network/handshake.ts';
import {
  blockProtocols,
  decodeIdList,
  encodeBlocks,
  encodeHead,
  encodeIds,
  encodeTxList,
} from '../../src/network/messages-blocks.ts';
import { decodeHandshake } from '../../src/network/messages-handshake.ts';
import { encodeTell, PEERS } from '../../src/network/messages-peers.ts';
import { encodeTxHashes, txProtocols } from '../../src/network/messages-transactions.ts';
import { account, chain, payment } from '../chain/chain-harness.ts';
import { Rng } from '../generators/random.ts';
import { agree, type Cluster, type ClusterNode, cluster, PORT, tipOf } from './cluster.ts';
import { blockOn, inFull, inHashes, type Maverick, maverick, turnOf } from './maverick.ts';

const HONEST = ['one', 'two', 'three'] as const;
const SECONDS = 150;
const HOUR_MS = 3_600_000;
const HANDSHAKE = '/permchain/T/hs/1.0.0';
const stranger = account('nobody in particular');

interface Scene {
  readonly at: Cluster;
  readonly nodes: readonly ClusterNode[];
  /** Any of them. */
  readonly node: ClusterNode;
  readonly mav: Maverick;
  readonly second: number;
  readonly now: number;
  readonly rng: Rng;
  /** True once in each round in which the maverick has the turn. */
  readonly isTurn: boolean;
  /** What one honest node has sent to another in their handshake. */
  readonly overheard: readonly Uint8Array[];
}

interface Attack {
  /** Runs every second, once the maverick is connected or at least tries. */
  readonly act: (scene: Scene) => void | Promise<void>;
  readonly hello?: Partial<OwnHello>;
  /** Events of honest nodes, with a pattern of their fields, one of which must be there. */
  readonly dealtWith?: readonly [event: string, fields: object] | undefined;
  /** More that must hold at the end. */
  readonly after?: (t: Test, scene: Omit<Scene, 'isTurn'>) => void;
}

const offence = (kind: string, verdict: string): Attack['dealtWith'] => [
  'peer.offence',
  { offence: kind, verdict },
];
const refused = (why: RegExp): Attack['dealtWith'] => ['peer.refused', { why }];

/** A block in which the maverick has the turn, told to everybody. */
const onTurn =
  (make: (scene: Scene) => Uint8Array): Attack['act'] =>
  (scene) => {
    if (scene.isTurn) scene.mav.notifyAll(blockProtocols.newBlock, make(scene));
  };

const id = (rng: Rng): Uint8Array => rng.bytes(64);
const transferOf = ({ mav, now }: Scene, amount: bigint) =>
  payment(mav, stranger, amount, now - 1000);

/** Announces transactions and hands them out. */
function spread(mav: Maverick, txs: readonly Uint8Array[]): void {
  mav.answers.set(txProtocols.txs, async () => encodeTxList(txs, chain));
  const hashes = txs.map((bytes) => chain.fastHash(bytes));
  mav.notifyAll(txProtocols.hashes, encodeTxHashes(hashes, chain));
}

const emptyPools: Attack['after'] = (t, { nodes }) => {
  for (const { node } of nodes) t.equal(node.pool.size(), 0);
};

function lie({ mav, node, rng }: Scene): void {
  const { height, score } = tipOf(node);
  const head = { height: height + 50, id: id(rng), score: score + 10n ** 20n };
  mav.notifyAll(blockProtocols.head, encodeHead(head, chain));
}

const attacks: Readonly<Record<string, Attack>> = {
  nothing: { act() {} },

  'scenario 28: a miner that makes two blocks in its round': {
    act(scene) {
      if (!scene.isTurn) return;
      const { mav, node, nodes, now } = scene;
      const blocks = [1n, 2n].map((amount) =>
        blockOn(node, mav, now, { transactions: [transferOf(scene, amount).bytes] }),
      );
      for (const [i, one] of nodes.entries()) {
        mav.session(one)?.notify(blockProtocols.newBlock, inFull(blocks[i % 2]!));
      }
    },
    after(t, { nodes }) {
      for (const { log, name } of nodes) {
        t.ok(log.of('block.equivocation').length > 0, `the evidence is in the log of ${name}`);
        t.strictSame(log.of('peer.offence'), [], 'which is for the operators to judge');
      }
    },
  },

  'scenario 21: a miner that does not wait for its turn': {
    act({ isTurn, mav, node, now }) {
      if (!isTurn) mav.notifyAll(blockProtocols.newBlock, inFull(blockOn(node, mav, now)));
    },
    dealtWith: offence('invalid-block', 'blacklisted'),
  },

  'a block by nobody': {
    act({ mav, node, now }) {
      mav.notifyAll(blockProtocols.newBlock, inFull(blockOn(node, stranger, now)));
    },
    dealtWith: offence('invalid-block', 'blacklisted'),
  },

  'scenario 22: a block with a wrong signature': {
    act(scene) {
      const { mav, node, now, isTurn } = scene;
      if (!isTurn) return;
      const { bytes } = blockOn(node, mav, now);
      bytes[bytes.length - 1]! ^= 1;
      mav.answers.set(blockProtocols.blocks, async () => encodeBlocks([bytes], chain));
      mav.notifyAll(blockProtocols.newBlock, inFull(decodeBlock(bytes, chain)));
    },
    dealtWith: offence('invalid-block', 'blacklisted'),
  },

  'scenario 23: a block that understates the skipped rounds': {
    act({ isTurn, node, mav, now }) {
      const { consensus } = blockOn(node, mav, now).header;
      if (!isTurn || consensus.kind !== 'poa' || consensus.skippedRounds === 0) return;
      const less = { ...consensus, skippedRounds: consensus.skippedRounds - 1 };
      mav.notifyAll(blockProtocols.newBlock, inFull(blockOn(node, mav, now, { consensus: less })));
    },
    dealtWith: offence('invalid-block', 'blacklisted'),
  },

  'a transaction with a wrong signature in a block': {
    act(scene) {
      const { mav, node, now, isTurn } = scene;
      if (!isTurn) return;
      const bytes = transferOf(scene, 1n).bytes.slice();
      bytes[bytes.length - 1]! ^= 1;
      const block = blockOn(node, mav, now, { transactions: [bytes] });
      mav.answers.set(blockProtocols.blocks, async () => encodeBlocks([block.bytes], chain));
      mav.notifyAll(blockProtocols.newBlock, inFull(block));
    },
    dealtWith: offence('invalid-block', 'blacklisted'),
  },

  'a transaction without funds in a block': {
    act: onTurn((scene) => {
      const { node, mav, now } = scene;
      const tx = transferOf(scene, 10n ** 17n);
      return inFull(blockOn(node, mav, now, { transactions: [tx.bytes] }));
    }),
    dealtWith: offence('invalid-block', 'blacklisted'),
  },

  'the same transaction twice in a block': {
    act: onTurn((scene) => {
      const { bytes } = transferOf(scene, 1n);
      return inFull(blockOn(scene.node, scene.mav, scene.now, { transactions: [bytes, bytes] }));
    }),
    dealtWith: offence('invalid-block', 'blacklisted'),
  },

  'a block of version 1': {
    act: onTurn(({ node, mav, now }) => inFull(blockOn(node, mav, now, { version: 1 }))),
    dealtWith: offence('invalid-block', 'blacklisted'),
  },

  'a block whose body is withheld': {
    act: onTurn((scene) => {
      const { node, mav, now } = scene;
      return inHashes(blockOn(node, mav, now, { transactions: [transferOf(scene, 1n).bytes] }));
    }),
    dealtWith: offence('withheld', 'noted'),
  },

  'headers in the name of others whose bodies never come': {
    act({ nodes, node, mav, now, rng }) {
      const due = nodes.find((one) => turnOf(node, one, now) !== undefined);
      if (due === undefined) return;
      for (let i = 0; i < 40; i++) {
        const block = blockOn(node, { ...due, sign: () => id(rng) }, now, {
          transactions: [rng.bytes(100)],
        });
        mav.notifyAll(blockProtocols.newBlock, inHashes(block));
      }
    },
    dealtWith: offence('withheld', 'blacklisted'),
  },

  'fragments that do not complete a block': {
    act(scene) {
      const { node, mav, now, isTurn } = scene;
      if (!isTurn) return;
      const txs = [1n, 2n, 3n].map((amount) => transferOf(scene, amount).bytes);
      mav.answers.set(blockProtocols.blockTxs, async () => encodeTxList(txs.slice(1), chain));
      mav.answers.set(blockProtocols.blocks, async () => encodeBlocks([undefined], chain));
      const block = blockOn(node, mav, now, { transactions: txs });
      mav.notifyAll(blockProtocols.newBlock, inHashes(block));
    },
    dealtWith: offence('withheld', 'noted'),
  },

  'scenario 103: a score, and no answer to anything': {
    act(scene) {
      if (scene.second % 10 === 0) lie(scene);
    },
    dealtWith: offence('unanswered-request', 'close'),
  },

  'scenario 103: a score, ids, and no blocks': {
    act(scene) {
      const { mav, rng } = scene;
      mav.answers.set(blockProtocols.ids, async (message) => {
        const [common] = decodeIdList(message, chain);
        const next = Array.from({ length: 30 }, () => id(rng));
        return encodeIds({ common: common!, next }, chain);
      });
      if (scene.second % 10 === 0) lie(scene);
    },
    dealtWith: offence('unanswered-request', 'close'),
  },

  'a score, and the own blocks of the one who asks': {
    act(scene) {
      const { mav, node } = scene;
      mav.answers.set(blockProtocols.ids, async (message) => {
        const common = decodeIdList(message, chain).at(-1)!;
        return encodeIds({ common, next: [tipOf(node).id] }, chain);
      });
      if (scene.second % 10 === 0) lie(scene);
    },
    dealtWith: offence('unanswered-request', 'close'),
  },

  'answers that nobody has asked for': {
    act(scene) {
      const { mav, rng, node } = scene;
      const next = [id(rng)];
      mav.answers.set(blockProtocols.ids, async (message) =>
        encodeIds({ common: decodeIdList(message, chain)[0]!, next }, chain),
      );
      const other = blockOn(node, mav, scene.now);
      mav.answers.set(blockProtocols.blocks, async () => encodeBlocks([other.bytes], chain));
      if (scene.second % 10 === 0) lie(scene);
    },
    dealtWith: offence('malformed-message', 'blacklisted'),
  },

  'a flood of old forks': {
    act({ mav, node, now, rng }) {
      for (let i = 0; i < 300; i++) {
        const height = 1 + rng.below(tipOf(node).height);
        const reference = node.node.services.chain.headerAt(height)!.signature;
        const block = blockOn(node, { ...mav, sign: () => id(rng) }, now, { reference });
        mav.session(node)?.notify(blockProtocols.newBlock, inFull(block));
      }
    },
  },

  'a flood of blocks without parents': {
    act({ mav, node, now, rng }) {
      for (let i = 0; i < 700; i++) {
        const forged = { ...mav, sign: () => id(rng) };
        const block = blockOn(node, forged, now, { reference: id(rng) });
        mav.session(node)?.notify(blockProtocols.newBlock, inFull(block));
      }
    },
    dealtWith: offence('flood', 'blacklisted'),
  },

  'scenario 101: a node of another network': {
    hello: { chainId: 'W'.charCodeAt(0) },
    act() {},
    dealtWith: refused(/^Remote chain id 'W' does not match local 'T'$/),
  },

  'scenario 101: a node of another genesis': {
    hello: { genesisId: new Uint8Array(64) },
    act() {},
    dealtWith: refused(/^Remote genesis id/),
  },

  'scenario 97: a key that is not registered': {
    hello: { ownerPublicKey: stranger.publicKey },
    act() {},
    dealtWith: refused(/is not permitted to join the cluster/),
  },

  'a key of somebody else': {
    hello: { ownerPublicKey: account('node one').publicKey },
    act() {},
    dealtWith: refused(/Invalid signature|same owner address|already exists/),
  },

  'scenario 100: a handshake that was overheard': {
    act({ mav, nodes, overheard, second }) {
      if (second !== 10) return;
      const [, two] = nodes as readonly [ClusterNode, ClusterNode];
      const { signal } = new AbortController();
      void mav.network.dial(two.host, PORT, signal).then(async (connection) => {
        const stream = await connection.open(HANDSHAKE, 4096);
        for (const kind of ['hello', 'auth']) {
          const found = overheard.find((one) => decodeHandshake(one, chain).kind === kind);
          stream.send(found!).catch(() => {});
        }
      });
    },
    dealtWith: refused(/^Wrong remote handshake! Invalid signature.$/),
  },

  'a block from the next hour': {
    act({ node, mav, now }) {
      const due = turnOf(node, mav, now + HOUR_MS);
      if (due === undefined) return;
      mav.notifyAll(blockProtocols.newBlock, inFull(blockOn(node, mav, due)));
    },
    after(t, { nodes }) {
      for (const { log } of nodes) t.strictSame(log.of('peer.offence'), [], 'which is no offence');
    },
  },

  'messages over their limit': {
    act({ mav }) {
      mav.notifyAll(blockProtocols.head, new Uint8Array(1000));
    },
    dealtWith: offence('malformed-message', 'blacklisted'),
  },

  'scenario 104: lists of addresses without end': {
    act({ mav, rng }) {
      const places = Array.from({ length: 1000 }, () => ({
        host: `10.${rng.below(256)}.${rng.below(256)}.${rng.below(256)}`,
        port: PORT,
      }));
      for (let i = 0; i < 10; i++) mav.notifyAll(PEERS, encodeTell(places, chain));
    },
    dealtWith: offence('flood', 'blacklisted'),
  },

  'transactions with wrong signatures': {
    act(scene) {
      const { mav, now } = scene;
      const txs = Array.from({ length: 50 }, (_, i) => {
        const { bytes } = payment(mav, stranger, BigInt(i + 1), now);
        return concat(bytes.subarray(0, -64), scene.rng.bytes(64));
      });
      spread(mav, txs);
    },
    dealtWith: offence('invalid-transactions', 'blacklisted'),
    after: emptyPools,
  },

  'scenario 77: transactions of a type that only blocks carry': {
    act({ mav, at }) {
      spread(mav, at.genesis.transactions.slice(0, 1));
    },
    dealtWith: offence('invalid-transactions', 'blacklisted'),
    after: emptyPools,
  },

  'hashes of transactions that never come': {
    act({ mav, rng }) {
      const hashes = Array.from({ length: 500 }, () => rng.bytes(32));
      mav.notifyAll(txProtocols.hashes, encodeTxHashes(hashes, chain));
    },
    dealtWith: offence('withheld', 'blacklisted'),
  },

  'streams on which nothing comes': {
    act({ mav, node, second }) {
      if (second > 5) return;
      void mav.network.dial(node.host, PORT, new AbortController().signal).then((connection) => {
        for (const protocol of ['hs/1.0.0', 'ids/1', 'blocks/1', 'head/1']) {
          connection.open(`/permchain/T/${protocol}`, 1000).catch(() => {});
        }
      });
    },
    dealtWith: refused(/^Timeout expired while waiting for handshake$/),
  },

  'requests without end': {
    act({ mav, node }) {
      const message = encodeIds(undefined, chain);
      for (let i = 0; i < 200; i++) {
        mav
          .session(node)
          ?.request(blockProtocols.ids, message, 1000)
          .catch(() => {});
      }
    },
    dealtWith: offence('malformed-message', 'blacklisted'),
  },

  'garbage after the handshake': {
    act({ mav, rng }) {
      for (const protocol of Object.values(blockProtocols)) {
        mav.notifyAll(protocol, rng.bytes(rng.below(50)));
      }
    },
    dealtWith: offence('malformed-message', 'blacklisted'),
  },
};

async function run(t: Test, attack: Attack) {
  const at = await cluster(t, { miners: [...HONEST, 'maverick'] });
  const overheard: Uint8Array[] = [];
  const [from, to] = [at.member('one').host, at.member('two').host];
  at.faults = (sent) => {
    const isIt = sent.from === from && sent.to === to && sent.protocol === HANDSHAKE;
    if (isIt && sent.message.length > 0) overheard.push(sent.message.slice());
    return {};
  };
  const nodes = await Promise.all(HONEST.map((name) => at.start(name, { knows: HONEST })));
  const mav = await maverick(t, at, 'maverick', attack.hello);
  await at.seconds(1);
  mav.pester(nodes);
  const [node] = nodes as [ClusterNode];
  const rng = new Rng(6);
  let lastTurn = 0;
  for (let second = 1; second <= SECONDS; second++) {
    await at.seconds(1);
    const now = at.clock.now();
    const { timestamp } = tipOf(node).header;
    const turn = turnOf(node, mav, now);
    const isTurn = turn !== undefined && timestamp !== lastTurn;
    if (isTurn) lastTurn = timestamp;
    // It pretends to follow the chain; who says nothing at all might be behind a dead line.
    mav.notifyAll(blockProtocols.head, encodeHead(tipOf(node), chain));
    await attack.act({ at, nodes, node, mav, second, now, rng, isTurn, overheard });
  }
  const { height } = tipOf(node);
  // What is on its way arrives, and a round that two may have won is decided by the next.
  await at.rounds(3);
  t.ok(agree(nodes), 'the honest nodes have one chain');
  for (const { log, name } of nodes) {
    const others = log.of('peer.offence').filter(({ owner }) => owner !== mav.text);
    t.strictSame(others, [], `${name} has blamed no honest node`);
  }
  const scene = { at, nodes, node, mav, second: SECONDS, now: at.clock.now(), rng, overheard };
  return { scene, height };
}

let baseline = 0;

for (const [name, attack] of Object.entries(attacks)) {
  t.test(name, { timeout: 120_000 }, async (t) => {
    const { scene, height } = await run(t, attack);
    baseline ||= height;
    t.ok(height >= 0.9 * baseline, `height ${height}, ${baseline} without the attack`);
    const { dealtWith } = attack;
    if (dealtWith !== undefined) {
      const [event, fields] = dealtWith;
      t.match(
        scene.nodes.flatMap(({ log }) => log.of(event)).filter((line) => matches(line, fields)),
        [fields],
        `${event} in the log`,
      );
    }
    attack.after?.(t, scene);
  });
}

/** True where the line has these texts, or texts that fit. */
function matches(line: object, fields: object): boolean {
  const has = line as Record<string, unknown>;
  return Object.entries(fields).every(([key, value]) =>
    value instanceof RegExp ? value.test(String(has[key])) : has[key] === value,
  );
}
