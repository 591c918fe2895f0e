/** Warnings for values of a configuration that are legal but seldom intended. */
import { majorityOf } from '../../chain/apply/counted-miners.ts';
import { ABOVE_FINAL_MAX } from '../../chain/finality/final-floor.ts';
import { MIN_GENERATING_BALANCE } from '../../consensus/pos-formulas.ts';
import { isLoopback } from '../../network/messages/peer-address.ts';
import { feature } from '../../tx/rules/features.ts';
import type { Config, GenesisConfig } from './settings.ts';

/** The shortest delay of a block (consensus/pos-formulas.ts) is half of it. */
const POS_DELAY_MS_MIN = 10_000;
/** A node that has nothing to say shows every 20 seconds that it is there. */
const IDLE_MS_MIN = 25_000;
/** A new block comes whole within seconds, and the blocks of a branch are kept until it is better. */
const BLOCK_BYTES_MAX = 32 * 1024 * 1024;

export function warningsOf(config: Config): string[] {
  const { network, restApi, miner, blockchain, dockerEngine, features, storage } = config;
  const warnings = [
    ...quorumWarnings(miner.quorum, blockchain.custom.genesis),
    ...stakeWarnings(blockchain),
  ];
  if (!network.handshakeCheck) {
    warnings.push('network.handshake-check = no: peers are not asked who they are');
  }
  const idle = network.breakIdleConnectionsTimeout;
  if (idle.ms < IDLE_MS_MIN) {
    warnings.push(
      `network.break-idle-connections-timeout = ${idle.text}: other nodes may say nothing for 20 seconds, so ` +
        'their sessions end again and again; take 45s or more',
    );
  }
  const { maxBlockSizeInBytes } = miner;
  if (maxBlockSizeInBytes > BLOCK_BYTES_MAX) {
    warnings.push(
      `miner.max-block-size-in-bytes = ${maxBlockSizeInBytes} is more than ${BLOCK_BYTES_MAX}: nodes give a new block five ` +
        'seconds, and keep 256 MiB of a branch',
    );
  }
  const hash = restApi.apiKeyHash;
  if (hash !== undefined && hash === restApi.privacyApiKeyHash) {
    warnings.push('rest-api.privacy-api-key-hash should differ from rest-api.api-key-hash');
  }
  if (restApi.enable && restApi.tls.cert === undefined && !isLoopback(restApi.bindAddress)) {
    warnings.push(
      `rest-api.bind-address = ${restApi.bindAddress} is plain HTTP beyond loopback: set ` +
        'rest-api.tls.cert and rest-api.tls.key, or rest-api.bind-address = "127.0.0.1"',
    );
  }
  const { preActivatedFeatures } = blockchain.custom.functionality;
  const isVoting =
    preActivatedFeatures.has(feature.finality) || features.supported.includes(feature.finality);
  const depth = storage.maxRollbackDepth;
  if (isVoting && depth < ABOVE_FINAL_MAX) {
    warnings.push(
      `storage.max-rollback-depth = ${depth} is less than ${ABOVE_FINAL_MAX}: where the network has parted deeper, this node ` +
        'stays on its branch, whatever the votes say',
    );
  }
  const { enable, pull, remoteRegistries, allowedImages } = dockerEngine;
  const names = remoteRegistries.length + allowedImages.length;
  if (enable && pull === 'missing' && names === 0) {
    warnings.push(
      'docker-engine.remote-registries and allowed-images are empty, so no image is fetched: ' +
        'name registries or images, or set docker-engine.pull = never',
    );
  }
  return warnings;
}

/** `quorum`: the setting. The miners are those of the genesis block, as no other ones are known here. */
function quorumWarnings(quorum: number | undefined, genesis: GenesisConfig): string[] {
  const miners = genesis.networkParticipants.filter(
    ({ roles }) => roles.includes('miner') && !roles.includes('banned'),
  ).length;
  const majority = majorityOf(miners);
  if (quorum !== undefined && miners > 0 && quorum >= miners) {
    return [
      `miner.quorum = ${quorum}: the genesis block has ${miners} miners, so ${miners - 1} others, and no block is ` +
        'made before there are more',
    ];
  }
  if (quorum === undefined || quorum >= majority) return [];
  return [
    `miner.quorum = ${quorum} is less than ${majority}, which with this node is a majority of the ` +
      `${miners} miners of the genesis block: when the network is divided, several parts make blocks, ` +
      'and all but one of them lose theirs, with what they have confirmed',
  ];
}

/** Of proof of stake. */
function stakeWarnings({ consensus, custom: { genesis } }: Config['blockchain']): string[] {
  if (consensus.type !== 'pos') return [];
  const warnings: string[] = [];
  const { averageBlockDelay, transactions } = genesis;
  if (averageBlockDelay.ms < POS_DELAY_MS_MIN) {
    warnings.push(
      `blockchain.custom.genesis.average-block-delay = ${averageBlockDelay.text}: no block comes within 5 seconds, ` +
        'so below 10s stakes count for little or nothing; take 10s or more in a new network',
    );
  }
  const balances = new Map<string, bigint>();
  for (const { recipient, amount } of transactions) {
    balances.set(recipient, (balances.get(recipient) ?? 0n) + amount);
  }
  const isEnough = [...balances.values()].some((balance) => balance >= MIN_GENERATING_BALANCE);
  if (balances.size > 0 && !isEnough) {
    warnings.push(
      'blockchain.custom.genesis.transactions: no account gets the 10,000 tokens that a miner under proof of stake ' +
        'needs, so no block is ever made',
    );
  }
  return warnings;
}
