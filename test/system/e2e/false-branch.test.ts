/** Real processes and a lying member: its branch looks better but is invalid. */
import { generateKeyPair } from '@libp2p/crypto/keys';
import t from 'tap';
import { libp2pNetwork } from '../../../src/adapters/libp2p/transport.ts';
import { systemClock, systemRandom } from '../../../src/adapters/system.ts';
import { base58 } from '../../../src/base/base58.ts';
import { equal } from '../../../src/base/bytes.ts';
import { type Block, blockId, sealBlock } from '../../../src/block/block.ts';
import { loadConfig } from '../../../src/cli/config-file.ts';
import {
  blockProtocols,
  decodeIdList,
  encodeBlocks,
  encodeIds,
  encodeTip,
} from '../../../src/network/messages/block-messages.ts';
import { txProtocols } from '../../../src/network/messages/transaction-messages.ts';
import type { Peering } from '../../../src/network/peering.ts';
import { openPeering } from '../../../src/node/open-peering.ts';
import { account, payment, quiet } from '../../chain/chain-harness.ts';
import { inlineVerifier } from '../../simulated/inline-verifier.ts';
import { type MadeChain, madeChain } from './made-chain.ts';
import { family } from './network-folder.ts';
import { eventually, type Scope } from './process.ts';
import {
  agreed,
  connectedOwners,
  blockId as idAt,
  type NetworkNode,
  type ProcessNetwork,
  processNetwork,
  scheme,
  stateHashes,
} from './process-network.ts';

const ROUND_MS = 500;
const GOOD = 14;
const LENGTH = 20;
const MESSAGE_MAX = 1_000_000;

t.setTimeout(240_000);

/** Twenty blocks on the genesis block, one in each round; the fifteenth spends what is not there. */
async function falseBranch(made: MadeChain, network: ProcessNetwork): Promise<Block[]> {
  const blocks: Block[] = [];
  while (blocks.length < GOOD) blocks.push(await made.produceBlock());
  const [rich, other] = network.accounts
    .slice(network.nodes.length)
    .map(({ seed }) => account(seed));
  const { miner, from } = made.turn();
  const tooMuch = payment(rich!, other!, 10n ** 18n, from).bytes;
  for (let timestamp = from; blocks.length < LENGTH; timestamp += ROUND_MS) {
    const { version, consensus } = blocks.at(-1)!.header;
    const reference = blockId(blocks.at(-1)!);
    const generator = miner.publicKey;
    blocks.push(
      sealBlock(
        { version, timestamp, reference, consensus, features: [], generator },
        blocks.length === GOOD ? [tooMuch] : [],
        scheme,
        miner.sign,
      ),
    );
  }
  return blocks;
}

/** The connections of the last member, who tells its peers of these blocks when asked. */
async function liar(
  scope: Scope,
  made: MadeChain,
  { nodes }: ProcessNetwork,
  victim: NetworkNode,
  blocks: readonly Block[],
): Promise<Peering> {
  const { config } = await loadConfig(nodes.at(-1)!.config, {
    set: [`network.known-peers=["127.0.0.1:${victim.peerPort}"]`, 'network.listen=no'],
  });
  const owner = made.miners.at(-1)!;
  const peering = openPeering(config, made.genesis, {
    network: libp2pNetwork((await generateKeyPair('Ed25519')).raw),
    files: undefined,
    scheme,
    family,
    verifier: inlineVerifier(family),
    clock: systemClock(),
    random: systemRandom,
    log: quiet,
    version: '1.1.0',
    blockchain: made.blockchain,
    owner,
  })!;
  const { sessions } = peering;
  const ids = blocks.map(blockId);
  const limits = { messageBytesMax: MESSAGE_MAX, answerBytesMax: MESSAGE_MAX, concurrent: 10 };
  sessions.handleRequests(blockProtocols.ids, {
    ...limits,
    answer: async (_session, message) =>
      encodeIds({ common: decodeIdList(message, scheme).at(-1)!, next: ids }, scheme),
  });
  sessions.handleRequests(blockProtocols.blocks, {
    ...limits,
    answer: async (_session, message) =>
      encodeBlocks(
        decodeIdList(message, scheme).map(
          (asked) => blocks.find((block) => equal(blockId(block), asked))?.bytes,
        ),
        scheme,
      ),
  });
  for (const protocol of [blockProtocols.head, blockProtocols.newBlock, txProtocols.hashes]) {
    sessions.handleNotices(protocol, { messageBytesMax: MESSAGE_MAX, take: () => {} });
  }
  // The score is the true one of such a branch: no round of it is skipped.
  const rest = BigInt(LENGTH - GOOD) * (2n ** 64n / 99n);
  const score = made.blockchain.tip().score + rest;
  const head = encodeTip({ height: 1 + LENGTH, id: ids.at(-1)!, score }, scheme);
  sessions.onOpen((session) => void session.notify(blockProtocols.head, head));
  await peering.start();
  scope.teardown(() => peering.stop());
  return peering;
}

t.test('scenario 43: a branch of twenty blocks whose fifteenth is invalid', async (t) => {
  const ageMs = (LENGTH + 2) * ROUND_MS;
  const network = await processNetwork(t, { nodes: 4, roundMs: ROUND_MS, ageMs, finality: false });
  const honest = network.nodes.slice(0, 3);
  const victim = honest[0]!;
  const made = await madeChain(network);
  const blocks = await falseBranch(made, network);
  const bad = base58.encode(blockId(blocks[GOOD]!));

  await Promise.all(honest.map((node) => node.start()));
  await network.connected([0, 1, 2]);
  const height = await agreed(honest, 4);
  const before = await idAt(victim.rest, height);
  const logged = victim.log().length;

  const lying = await liar(t, made, network, victim, blocks);
  await eventually('the refusal', () =>
    victim.log().includes(`"event":"block.refused","id":"${bad}"`) ? true : undefined,
  );
  t.match(victim.log(), new RegExp(`"block.refused","id":"${bad}","why":"[^"]*negative`));
  await eventually('the end of the session', () =>
    lying.sessions.all().length === 0 ? true : undefined,
  );
  await eventually('the offence in its log', () =>
    /"event":"peer\.offence",.*"offence":"invalid-block"/.test(victim.log()) ? true : undefined,
  );
  const owner = network.nodes[3]!.owner.address;
  t.notOk((await connectedOwners(victim.rest)).includes(owner));
  t.match((await victim.rest.get('/peers/blacklisted')).body, [{ reason: /invalid-block/ }]);
  t.equal(await idAt(victim.rest, height), before, 'the old chain stands');
  t.notMatch(victim.log().slice(logged), '"event":"chain.reorganised","from":1');

  const end = await agreed(honest, height + 3);
  for (const node of honest) await node.stop();
  for (const at of [height, end]) {
    const hashes = await stateHashes(honest, at);
    t.match(hashes[0], /^[0-9a-f]{64}$/);
    t.strictSame(hashes, Array(honest.length).fill(hashes[0]), `one state at ${at}`);
  }
});
