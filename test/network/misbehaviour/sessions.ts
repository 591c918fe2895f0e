/** Misbehaviours of a peer in handshakes, sessions and streams. */
import { blockProtocols, encodeIds } from '../../../src/network/messages/block-messages.ts';
import { decodeHandshake } from '../../../src/network/messages/handshake-messages.ts';
import { encodePeers, PEERS } from '../../../src/network/messages/peer-messages.ts';
import { account, scheme } from '../../chain/chain-harness.ts';
import { type ClusterNode, PORT } from '../cluster.ts';
import { HANDSHAKE } from '../maverick.ts';
import { offence, type Row, refused, stranger } from './row.ts';

export const aboutSessions: readonly Row[] = [
  {
    name: 'scenario 101: a node of another network',
    hello: { chainId: 'W'.charCodeAt(0) },
    act() {},
    blame: refused(/^Remote chain id 'W' does not match local 'T'$/),
  },

  {
    name: 'scenario 101: a node of another genesis',
    hello: { genesisId: new Uint8Array(64) },
    act() {},
    blame: refused(/^Remote genesis id/),
  },

  {
    name: 'scenario 97: a key that is not registered',
    hello: { ownerPublicKey: stranger.publicKey },
    act() {},
    blame: refused(/is not permitted to join the cluster/),
  },

  {
    name: 'a key of somebody else',
    hello: { ownerPublicKey: account('node one').publicKey },
    act() {},
    blame: refused(/Invalid signature|same owner address|already exists/),
  },

  {
    name: 'scenario 100: a handshake that was overheard',
    act({ mav, nodes, overheard, second }) {
      if (second !== 10) return;
      const [, two] = nodes as readonly [ClusterNode, ClusterNode];
      const { signal } = new AbortController();
      void mav.network.dial(two.host, PORT, signal).then(async (connection) => {
        const stream = await connection.open(HANDSHAKE, 4096);
        for (const kind of ['hello', 'auth']) {
          const found = overheard.find((one) => decodeHandshake(one, scheme).kind === kind);
          stream.send(found!).catch(() => {});
        }
      });
    },
    blame: refused(/^Wrong remote handshake! Invalid signature.$/),
  },

  {
    name: 'messages over their limit',
    act({ mav }) {
      mav.notifyAll(blockProtocols.head, new Uint8Array(1000));
    },
    blame: offence('malformed-message', 'blacklisted'),
  },

  {
    name: 'scenario 104: lists of addresses without end',
    act({ mav, rng }) {
      const places = Array.from({ length: 1000 }, () => ({
        host: `10.${rng.below(256)}.${rng.below(256)}.${rng.below(256)}`,
        port: PORT,
      }));
      for (let i = 0; i < 10; i++) mav.notifyAll(PEERS, encodePeers(places, scheme));
    },
    blame: offence('flood', 'blacklisted'),
  },

  {
    name: 'streams on which nothing comes',
    act({ mav, node, second }) {
      if (second > 5) return;
      void mav.network.dial(node.host, PORT, new AbortController().signal).then((connection) => {
        for (const protocol of ['hs/1.0.0', 'ids/1', 'blocks/1', 'head/1']) {
          connection.open(`/permchain/T/${protocol}`, 1000).catch(() => {});
        }
      });
    },
    blame: refused(/^Timeout expired while waiting for handshake$/),
  },

  {
    name: 'requests without end',
    act({ mav, node }) {
      const message = encodeIds(undefined, scheme);
      for (let i = 0; i < 200; i++) {
        mav
          .session(node)
          ?.request(blockProtocols.ids, message, 1000)
          .catch(() => {});
      }
    },
    blame: offence('malformed-message', 'blacklisted'),
  },

  {
    name: 'garbage after the handshake',
    act({ mav, rng }) {
      for (const protocol of Object.values(blockProtocols)) {
        mav.notifyAll(protocol, rng.bytes(rng.below(50)));
      }
    },
    blame: offence('malformed-message', 'blacklisted'),
  },
];
