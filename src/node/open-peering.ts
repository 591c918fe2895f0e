/** The connections of a configured node to other nodes. */

import { base58 } from '../base/base58.ts';
import { equal } from '../base/bytes.ts';
import type { SigningAccount } from '../base/signer/signing.ts';
import { type Block, blockId } from '../block/block.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { overridesHash } from '../chain/finality/voter-override.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { settingsHash } from '../consensus/settings-hash.ts';
import { participantOf } from '../ledger/participants.ts';
import { OVERRIDES, signedByMiner } from '../network/messages/handshake-messages.ts';
import { type PeerAddress, parseAddress } from '../network/messages/peer-address.ts';
import { Peering } from '../network/peering.ts';
import type { OwnHello } from '../network/sessions/handshake.ts';
import { versionOf } from '../network/sessions/node-version.ts';
import { withMembers } from '../tx/members.ts';
import { registerNode } from '../tx/types/111-register-node.ts';
import { networkSettings } from './config/genesis-section.ts';
import type { Config } from './config/settings.ts';
import { voterOverrides } from './config/voter-overrides.ts';
import type { NodePorts } from './node-ports.ts';

export interface PeeringPortsOfNode
  extends Pick<
    NodePorts,
    'network' | 'files' | 'scheme' | 'family' | 'verifier' | 'clock' | 'random' | 'log' | 'version'
  > {
  readonly blockchain: Blockchain;
  readonly owner: SigningAccount;
  /** `minerProof`; absent: the owner, under which peers know the node, makes the blocks. */
  readonly miner?: OwnHello['miner'];
}

const AGENT = 'platform-node';
/** Older nodes use other protocols. */
const OLDEST_VERSION = versionOf('1.0.0');

/**
 * Follows the chain at once and listens on the network after `start`. Undefined for a node without
 * a network, which must already be registered; otherwise `start` rejects.
 */
export function openPeering(
  config: Config,
  genesis: Block,
  ports: PeeringPortsOfNode,
): Peering | undefined {
  const { blockchain, family, scheme, random, verifier, network, owner } = ports;
  if (network === undefined) return undefined;
  const own = scheme.addressOf(ports.miner?.publicKey ?? owner.publicKey);
  const mines = config.miner.enable && config.network.mode !== 'watcher';
  const registeredKey = (address: Uint8Array) => participantOf(blockchain.view, address)?.publicKey;
  const { declaredAddress, knownPeers, maxSimultaneousConnections, ...settings } = config.network;
  return new Peering(
    {
      hello: {
        version: versionOf(ports.version),
        agent: AGENT,
        chainId: scheme.chainId,
        genesisId: blockId(genesis),
        consensusType: config.blockchain.consensus.type,
        settingsHash: settingsHash(networkSettings(config), family.fastHash),
        nodeName: settings.nodeName,
        nonce: BigInt(settings.nonce),
        declaredAddress: declaredAddress === undefined ? undefined : parseAddress(declaredAddress),
        ownerPublicKey: owner.publicKey,
        mode: settings.mode,
        features: featuresOf(config, scheme),
        miner: ports.miner,
      },
      minimumVersion: OLDEST_VERSION,
      host: settings.bindAddress,
      port: settings.listen ? settings.port : undefined,
      knownPeers: knownPeers.map(parseAddress).filter(isPlace),
      handshakeCheck: settings.handshakeCheck,
      connectionsMax: maxSimultaneousConnections,
      handshakeMs: settings.handshakeTimeout.ms,
      idleMs: settings.breakIdleConnectionsTimeout.ms,
      dialDelayMs: settings.attemptConnectionDelay.ms,
      connectionMs: settings.connectionTimeout.ms,
      exchange: settings.enablePeersExchange,
      exchangeMs: settings.peersRequestInterval.ms,
      residenceMs: settings.peersDataResidenceTime.ms,
      suspensionMs: settings.suspensionResidenceTime.ms,
      blacklistMs: settings.blackListResidenceTime.ms,
      blacklisting: settings.enableBlacklisting,
      file: settings.file,
    },
    {
      ...ports,
      network,
      registeredKey,
      headTime: () => blockchain.tip().header.timestamp,
      miners() {
        const all = blockchain.ableMiners(ports.clock.now());
        const others = all.filter((address) => !equal(address, own));
        return { others, isMiner: mines && others.length < all.length };
      },
      verify: (publicKey, message, signature) => verifier.verifyOne(publicKey, message, signature),
      ephemeralKey: () => family.generateKeyPair(random).publicKey,
    },
  );
}

/** Nodes that have other overrides would refuse each other's blocks, so they do not meet. */
function featuresOf(config: Config, scheme: ChainScheme): string[] {
  const hash = overridesHash(voterOverrides(config, scheme), scheme);
  return hash === undefined ? [] : [`${OVERRIDES}${base58.encode(hash)}`];
}

/** Ends sessions with owners that are no longer members. Returns the function that stops it. */
export function reviewMembers(
  peering: Peering,
  blockchain: Pick<Blockchain, 'listen'>,
): () => void {
  return blockchain.listen({
    block: ({ block }) =>
      peering.review([...withMembers(block.txs)].some(({ def }) => def.type === registerNode.type)),
    rolledBack: () => peering.review(true),
  });
}

/**
 * With this proof peers count the node among the miners although its privacy owner is another
 * account.
 */
export async function minerProof(
  owner: Pick<SigningAccount, 'address' | 'publicKey'>,
  miner: SigningAccount,
  genesisId: Uint8Array,
): Promise<OwnHello['miner']> {
  if (equal(owner.publicKey, miner.publicKey)) return undefined;
  const signature = await miner.sign(signedByMiner(genesisId, owner.address));
  return { publicKey: miner.publicKey, signature };
}

const isPlace = (place: PeerAddress | undefined): place is PeerAddress => place !== undefined;
