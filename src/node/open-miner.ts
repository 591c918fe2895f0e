/** The miner of a configured node, with its chain and its used turns. */
import type { KeyHolder } from '../base/signer/signing.ts';
import { othersOfMajority } from '../chain/apply/counted-miners.ts';
import type { MinerKey } from '../chain/apply/produce-block.ts';
import type { MinerIdentity } from '../consensus/consensus.ts';
import { createCompletionTimes, phaseEnd } from '../contracts/phase-length.ts';
import { takenWithoutEngine } from '../contracts/waiting/doubt-order.ts';
import { pack } from '../mempool/packer.ts';
import type { Pool } from '../mempool/pool.ts';
import { type Miner, SlotMiner } from '../miner/miner.ts';
import { keepRemovedBlocks } from '../miner/removed-blocks.ts';
import { UnfinishedBlock } from '../miner/unfinished-block.ts';
import { UsedSlots } from '../miner/used-slots.ts';
import type { Tx } from '../tx/transaction.ts';
import type { Signer } from '../tx/types/120-atomic.ts';
import type { Config } from './config/settings.ts';
import type { FreeSpace } from './free-space.ts';
import type { NodePorts } from './node-ports.ts';
import type { OpenedChain } from './open-blockchain.ts';
import { type NodeContracts, roundOf } from './open-contracts.ts';
import type { NodeFinality } from './open-finality.ts';
import type { NodeNetwork } from './open-network.ts';
import type { WatchedJournal } from './watched-journal.ts';

export interface MinerPortsOfNode
  extends Pick<OpenedChain, 'blockchain' | 'consensus' | 'lostBlocks'>,
    Pick<NodePorts, 'clock' | 'log'> {
  /** Stores the turns that the miner has used. */
  readonly turnsJournal: Pick<WatchedJournal, 'journal' | 'outage'>;
  readonly pool: Pool;
  /** Undefined where this node executes no contracts. */
  readonly contracts: Pick<NodeContracts, 'packer'> | undefined;
  readonly peering: Pick<
    NodeNetwork,
    'comingBlock' | 'connectedMiners' | 'isFarBehind' | 'isBehind' | 'isRemovedFromNetwork'
  >;
  readonly finality?: Pick<NodeFinality, 'carried' | 'lacksVotes'> | undefined;
  readonly space: Pick<FreeSpace, 'holdsMiner'>;
  /** Absent: the keys are in this process. */
  readonly keyHolder?: Pick<KeyHolder, 'problem'> | undefined;
  /** Signs what the generator of a block adds to transactions. */
  readonly signer: Signer;
  readonly owner: MinerIdentity & Pick<MinerKey, 'sign' | 'signTurn'>;
}

/** With fewer rounds no block would be made once one is late. */
const STALE_ROUNDS_MIN = 3;

function staleTipMs({ blockchain: { consensus, custom }, miner }: Config): number {
  const roundMs =
    consensus.type === 'poa'
      ? consensus.roundDuration.ms + consensus.syncDuration.ms
      : custom.genesis.averageBlockDelay.ms;
  const { ms } = miner.intervalAfterLastBlockThenGenerationIsAllowed;
  return Math.max(ms, STALE_ROUNDS_MIN * roundMs);
}

/** The miner makes no block before it is started. */
export function openMiner(config: Config, ports: MinerPortsOfNode): Miner {
  const { miner, network } = config;
  const { blockchain, consensus, clock, log, peering, owner } = ports;
  const slots = new UsedSlots(ports.turnsJournal.journal, log, config.storage.maxRollbackDepth);
  const rollbackMax = config.synchronization.maxRollback;
  const chain = { blockchain, consensus, clock };
  const unfinished = new UnfinishedBlock({ ...chain, slots, key: owner, log, rollbackMax });
  const isFailing = (): boolean => blockchain.isFailing();
  blockchain.listen({
    async rollingBack(_txs, above) {
      await keepRemovedBlocks(above, { ...chain, own: owner.address, turns: slots });
    },
  });
  const made = new SlotMiner(
    {
      enabled: miner.enable && network.mode !== 'watcher',
      quorum: miner.quorum,
      noQuorumDelayMs: miner.noQuorumMiningDelay.ms,
      staleTipMs: staleTipMs(config),
    },
    {
      clock,
      log,
      connectedMiners: peering.connectedMiners,
      majority: () => othersOfMajority(blockchain.countedMiners(clock.now()), owner.address),
      isRemovedFromNetwork: peering.isRemovedFromNetwork,
      lacksVotes: () => ports.finality?.lacksVotes() ?? false,
      lacksJournal: () => ports.turnsJournal.outage() !== undefined,
      lacksSigner: () => ports.keyHolder?.problem() !== undefined,
      lacksDisk: () => ports.space.holdsMiner({ isFailing, isBehind: peering.isBehind }),
      chain: {
        tip: () => {
          const { height, header } = blockchain.tip();
          return { height, timestamp: header.timestamp };
        },
        nextSlot: (now) => (peering.isFarBehind() ? undefined : blockchain.nextSlot(owner, now)),
        isUsed({ from: timestamp }) {
          const turn = consensus.turnOf({ timestamp, reference: blockchain.tip().id });
          return slots.has(turn) || unfinished.isAsked(turn);
        },
        produceBlock: producerWith(config, ports, slots, unfinished),
        coming: peering.comingBlock,
        unfinished: {
          waits: () => !peering.isFarBehind() && unfinished.waits(),
          finish: async () => {
            const txs = await unfinished.finish();
            ports.contracts?.packer.committed(txs);
          },
        },
        onHead: (listener) => blockchain.listen({ block: listener, rolledBack: listener }),
      },
    },
  );
  return {
    state: () => made.state(),
    start() {
      unfinished.start();
      made.start();
    },
    async stop() {
      // A block that is being made waits for no contract any more.
      ports.contracts?.packer.stop();
      await made.stop();
      unfinished.stop();
    },
  };
}

function producerWith(
  config: Config,
  ports: MinerPortsOfNode,
  slots: UsedSlots,
  unfinished: UnfinishedBlock,
): (timestamp: number, deadline: number) => Promise<void> {
  const { blockchain, clock, contracts, finality, keyHolder, lostBlocks, owner, pool, signer } =
    ports;
  const carried = finality && (() => finality.carried());
  const minerKey: MinerKey = {
    ...owner,
    turns: slots,
    seen: lostBlocks.turns,
    ...(carried && { carried }),
    ...(keyHolder && { signKept: (turn, block, message) => unfinished.sign(turn, block, message) }),
  };
  if (contracts === undefined) {
    const { publicKeySize } = blockchain.view.scheme;
    return (timestamp, deadline) =>
      blockchain.exclusive(async (chain) => {
        const block = chain.begin(minerKey, timestamp);
        const selection = { takes: takenWithoutEngine(pool.inDoubt, publicKeySize), signer };
        await pack(pool, { ...block.limits, deadline }, block.draft, clock, selection);
        await chain.finish(block);
      });
  }
  const { packer } = contracts;
  const times = createCompletionTimes();
  return async (timestamp, deadline) => {
    let txs: readonly Tx[] = [];
    const contractDeadline = phaseEnd(roundOf(config), clock.now(), deadline, times.longest());
    let packedAt: number | undefined;
    try {
      await blockchain.exclusive(async (chain) => {
        const block = chain.begin(minerKey, timestamp);
        await packer.fill(block, { deadline, contractDeadline });
        packedAt = clock.monotonic() - Math.max(0, clock.now() - contractDeadline);
        await chain.finish(block);
        txs = block.draft.txs;
      });
      packer.committed(txs);
    } finally {
      // A block that came too late to be sealed tells most.
      if (packedAt !== undefined) times.add(clock.monotonic() - packedAt);
    }
  };
}
