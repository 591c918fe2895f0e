/** Misbehaviours with status records of contract transactions. */
import { concat } from '../../../src/base/bytes.ts';
import {
  encodeStatuses,
  RECORDS_MAX,
  STATUS_NOTICES,
} from '../../../src/contracts/statuses/status-messages.ts';
import { MESSAGE_CHARS_MAX, signedPart } from '../../../src/contracts/statuses/status-record.ts';
import type { OutcomeStatus } from '../../../src/contracts/statuses/status-report.ts';
import { scheme } from '../../chain/chain-harness.ts';
import type { Member } from '../cluster.ts';
import { nobody, offence, type Row, type Scene, spread, stranger, transferOf } from './row.ts';

function record(by: Pick<Member, 'publicKey' | 'sign'>, txId: Uint8Array, now: number): Uint8Array {
  const status: OutcomeStatus = 'Error';
  const message = 'x'.repeat(MESSAGE_CHARS_MAX);
  const unsigned = { senderPublicKey: by.publicKey, txId, status, code: 3, message };
  const signed = signedPart({ ...unsigned, timestamp: now }, scheme);
  return concat(signed, by.sign(signed));
}

const tell = ({ mav }: Scene, records: readonly Uint8Array[]): void =>
  mav.notifyAll(STATUS_NOTICES, encodeStatuses(records, scheme));

const nothingKept: NonNullable<Row['after']> = (t, { nodes }) => {
  for (const { node, name } of nodes) {
    t.equal(node.statuses.size(), 0, `${name} has kept none`);
  }
};

export const aboutStatuses: readonly Row[] = [
  {
    name: 'statuses of transactions that do not exist',
    act(scene) {
      const { mav, rng, now } = scene;
      for (let i = 0; i < 5; i++) {
        tell(
          scene,
          Array.from({ length: RECORDS_MAX }, () => record(mav, rng.bytes(32), now)),
        );
      }
    },
    blame: nobody,
    after: nothingKept,
  },

  {
    name: 'statuses without end',
    act(scene) {
      const { mav, rng, now } = scene;
      const one = record(mav, rng.bytes(32), now);
      for (let i = 0; i < 200; i++) tell(scene, [one]);
    },
    blame: offence('flood', 'blacklisted'),
    after: nothingKept,
  },

  {
    name: 'statuses by an account that makes no blocks',
    act(scene) {
      tell(scene, [record(stranger, scene.rng.bytes(32), scene.now)]);
    },
    blame: nobody,
    after: nothingKept,
  },

  {
    name: 'statuses that another miner did not sign',
    act(scene) {
      const { mav, node, now, second } = scene;
      // Nodes look at signatures only where they know the transaction.
      const { id, bytes } = transferOf(scene, BigInt(second));
      spread(mav, [bytes]);
      const forger = { publicKey: node.publicKey, sign: mav.sign };
      tell(scene, [record(forger, id, now)]);
    },
    blame: offence('forged-status', 'blacklisted'),
    after: nothingKept,
  },

  {
    name: 'bytes that are no statuses',
    act({ mav, rng }) {
      mav.notifyAll(STATUS_NOTICES, rng.bytes(200));
    },
    blame: offence('malformed-message', 'blacklisted'),
    after: nothingKept,
  },
];
