/** A registered node controlled by an attacker: its handshake is real, and nothing after it. */
import { generateKeyPair } from '@libp2p/crypto/keys';
import { libp2pNetwork } from '../../../src/adapters/libp2p/transport.ts';
import { systemClock, systemRandom } from '../../../src/adapters/system.ts';
import { base58 } from '../../../src/base/base58.ts';
import type { PeerStream } from '../../../src/base/ports/network.ts';
import { blockId } from '../../../src/block/block.ts';
import { loadConfig } from '../../../src/cli/config-file.ts';
import { genesisBlock } from '../../../src/cli/genesis-block.ts';
import { settingsHash } from '../../../src/consensus/settings-hash.ts';
import { STATUS_NOTICES } from '../../../src/contracts/statuses/status-messages.ts';
import { blockProtocols } from '../../../src/network/messages/block-messages.ts';
import { PEERS } from '../../../src/network/messages/peer-messages.ts';
import { txProtocols } from '../../../src/network/messages/transaction-messages.ts';
import { Handshake } from '../../../src/network/sessions/handshake.ts';
import { Penalties } from '../../../src/network/sessions/penalties.ts';
import { SessionRegistry, wireNameOn } from '../../../src/network/sessions/session-registry.ts';
import { networkSettings } from '../../../src/node/config/genesis-section.ts';
import { DATA, ITEMS } from '../../../src/privacy/protocol/privacy-messages.ts';
import { quiet } from '../../chain/chain-harness.ts';
import { family, type Person } from '../e2e/network-folder.ts';
import { scheme } from '../e2e/process-network.ts';
import type { Target } from './target.ts';

export interface AttackingPeer {
  readonly address: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly targetAddress: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
  isOpen(): boolean;
  /** A new stream, on which the attacker sends what it likes. */
  open(protocol: string): Promise<PeerStream>;
  close(): Promise<void>;
}

const LARGE = 100_000_000;
const DIAL_MS = 10_000;

/** What the attacker does when the node asks; without them it never answers. */
export interface Answers {
  privateData?(stream: PeerStream, peer: AttackingPeer): Promise<void>;
  transactions?(message: Uint8Array): Uint8Array;
  ids?(message: Uint8Array): Uint8Array;
  blocks?(message: Uint8Array): Uint8Array;
}

const answerOf = ({ ids, blocks, transactions }: Answers, protocol: string) =>
  new Map<string, Answers['ids']>([
    [txProtocols.txs, transactions],
    [blockProtocols.ids, ids],
    [blockProtocols.blocks, blocks],
  ]).get(protocol);

/** Rejects where the node refuses the peer. */
export async function connectPeer(
  target: Target,
  { publicKey, privateKey }: Person,
  { privateData, ...answers }: Answers = {},
): Promise<AttackingPeer> {
  const { config } = await loadConfig(target.config);
  const key = base58.decode(publicKey)!;
  const sign = (message: Uint8Array) => family.sign(privateKey, message, systemRandom);
  const clock = systemClock();
  const network = libp2pNetwork((await generateKeyPair('Ed25519')).raw);
  const address = scheme.addressOf(key);
  const handshake = new Handshake({
    scheme,
    random: systemRandom,
    own: {
      version: { major: 1, minor: 1, patch: 0 },
      agent: 'platform-node',
      chainId: scheme.chainId,
      genesisId: blockId(genesisBlock(config)),
      consensusType: 'poa',
      settingsHash: settingsHash(networkSettings(config), family.fastHash),
      nodeName: 'attacker',
      nonce: 1n,
      declaredAddress: undefined,
      ownerPublicKey: key,
      mode: 'default',
      features: [],
      miner: undefined,
    },
    minimumVersion: { major: 0, minor: 0, patch: 0 },
    sign,
    verify: async (publicKey, message, signature) => family.verify(publicKey, message, signature),
    ephemeralKey: () => family.generateKeyPair(systemRandom).publicKey,
    keyOf: (_owner, claimed) => claimed,
  });
  const sessions = new SessionRegistry(
    { connectionsMax: 10, handshakeMs: 30_000, idleMs: 600_000 },
    {
      network,
      clock,
      log: quiet,
      scheme,
      handshake,
      penalties: new Penalties({ suspensionMs: 1, blacklistMs: 1, blacklisting: false }, clock),
      ownAddress: address,
      isConfigured: () => false,
      miners: () => ({ others: [], isMiner: false }),
    },
  );
  const { head, newBlock, ids, blocks, blockTxs } = blockProtocols;
  for (const protocol of [PEERS, ITEMS, STATUS_NOTICES, head, newBlock, txProtocols.hashes]) {
    sessions.handleNotices(protocol, { messageBytesMax: LARGE, take: () => {} });
  }
  for (const protocol of [ids, blocks, blockTxs, txProtocols.txs]) {
    sessions.handleRequests(protocol, {
      messageBytesMax: LARGE,
      answerBytesMax: LARGE,
      concurrent: 100,
      answer: async (_session, message) =>
        answerOf(answers, protocol)?.(message) ?? new Promise(() => {}),
    });
  }
  sessions.handleStreams(DATA, {
    messageBytesMax: LARGE,
    concurrent: 100,
    serve: async (_session, stream) => privateData?.(stream, peer),
  });
  sessions.start();
  const close = async (): Promise<void> => {
    await sessions.stop();
    await network.close();
  };
  await network.listen({ host: target.host, port: undefined, connectionsMax: 10 });
  let connection: Awaited<ReturnType<typeof network.dial>>;
  let open = true;
  const peer: AttackingPeer = {
    address,
    publicKey: key,
    targetAddress: scheme.addressOf(base58.decode(target.publicKey)!),
    sign,
    isOpen: () => open,
    open: (protocol) => connection.open(wireNameOn(scheme)(protocol), LARGE),
    close,
  };
  try {
    const signal = AbortSignal.timeout(DIAL_MS);
    connection = await network.dial(target.host, target.peerPort, signal);
    connection.onClose(() => {
      open = false;
    });
    await sessions.establish(connection);
  } catch (cause) {
    await close();
    throw cause;
  }
  return peer;
}
