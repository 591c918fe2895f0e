/**
 * Misbehaviours of a peer that requests, announces and connects more than an honest one ever would.
 */
import {
  blockProtocols,
  encodeBlockTxsRequest,
  encodeIdList,
  encodeTip,
} from '../../../src/network/messages/block-messages.ts';
import { encodePeers, PEERS } from '../../../src/network/messages/peer-messages.ts';
import { encodeTxHashes, txProtocols } from '../../../src/network/messages/transaction-messages.ts';
import { scheme } from '../../chain/chain-harness.ts';
import { PORT, tipOf } from '../cluster.ts';
import { nobody, offence, type Row, type Scene } from './row.ts';

const WAIT_MS = 5_000;

/** The honest nodes are asked; what they answer, and when, does not matter. */
function ask({ mav, nodes }: Scene, protocol: string, message: Uint8Array): void {
  for (const node of nodes) {
    mav
      .session(node)
      ?.request(protocol, message, WAIT_MS)
      .catch(() => {});
  }
}

export const aboutRequests: readonly Row[] = [
  {
    name: 'a block asked for a hundred times in one request',
    act(scene) {
      const ids = Array.from({ length: 100 }, () => tipOf(scene.node).id);
      ask(scene, blockProtocols.blocks, encodeIdList(ids, scheme));
    },
    blame: offence('malformed-message', 'blacklisted'),
  },

  {
    name: 'one common block named a hundred times',
    act(scene) {
      const ids = Array.from({ length: 100 }, () => tipOf(scene.node).id);
      ask(scene, blockProtocols.ids, encodeIdList(ids, scheme));
    },
    blame: offence('malformed-message', 'blacklisted'),
  },

  {
    name: 'one hash five hundred times in an announcement',
    act({ mav, rng }) {
      const hash = rng.bytes(32);
      mav.notifyAll(txProtocols.hashes, encodeTxHashes(Array(500).fill(hash), scheme));
    },
    blame: offence('malformed-message', 'blacklisted'),
  },

  {
    name: 'one transaction asked for twice in a request',
    act(scene) {
      const hash = scene.rng.bytes(32);
      ask(scene, txProtocols.txs, encodeTxHashes([hash, hash], scheme));
    },
    blame: offence('malformed-message', 'blacklisted'),
  },

  {
    name: 'transactions of a block without end',
    act(scene) {
      const { id } = tipOf(scene.node);
      const request = encodeBlockTxsRequest({ id, indexes: [0] }, scheme);
      for (let i = 0; i < 8; i++) ask(scene, blockProtocols.blockTxs, request);
    },
    blame: nobody,
  },

  {
    name: 'ids and blocks without end',
    act(scene) {
      const list = encodeIdList([scene.at.genesis.header.signature], scheme);
      for (let i = 0; i < 6; i++) {
        ask(scene, blockProtocols.ids, list);
        ask(scene, blockProtocols.blocks, list);
      }
    },
    blame: nobody,
  },

  {
    name: 'the end of its chain eighty times a second',
    act({ mav, node }) {
      for (let i = 0; i < 500; i++)
        mav.notifyAll(blockProtocols.head, encodeTip(tipOf(node), scheme));
    },
    blame: offence('flood', 'blacklisted'),
  },

  {
    name: 'news of places where nobody answers',
    act({ mav, second }) {
      const places = Array.from({ length: 4 }, (_, i) => {
        return { host: `10.9.${second}.${i}`, port: PORT };
      });
      if (second % 2 === 0) mav.notifyAll(PEERS, encodePeers(places, scheme));
    },
    blame: nobody,
  },

  {
    name: 'connections without a handshake, and streams on them',
    act({ mav, nodes }) {
      const { signal } = new AbortController();
      for (const { host } of nodes) {
        for (let i = 0; i < 10; i++) {
          void mav.network
            .dial(host, PORT, signal)
            .then(async (connection) => {
              for (const protocol of Object.values(blockProtocols)) {
                await connection.open(`/permchain/T/${protocol}`, 1000);
              }
            })
            .catch(() => {});
        }
      }
    },
    blame: nobody,
    after(t, { nodes }) {
      for (const { log, name } of nodes) {
        const closed = log
          .of('peer.closed')
          .filter(({ reason }) => !/already|simult/.test(String(reason)));
        t.ok(closed.length <= 2, `${name} keeps its sessions`);
      }
    },
  },
];
