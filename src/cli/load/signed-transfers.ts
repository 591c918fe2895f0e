/** Transfers that are signed before the measurement begins, as whole HTTP requests. */
import { stringify } from '../../base/json.ts';
import { txToJson } from '../../tx/json/encode.ts';
import type { TxType } from '../../tx/transaction.ts';
import { transfer } from '../../tx/types/004-transfer.ts';
import type { Cryptography } from '../cryptography.ts';
import { type Sender, signed } from './senders.ts';

export interface SignedTransfers {
  readonly count: number;
  /** The n-th request, for any of the nodes. */
  bytes(n: number): Uint8Array;
  /** Its transaction id as Base58. */
  id(n: number): string;
}

export interface TransfersOptions {
  readonly count: number;
  readonly senders: readonly Sender[];
  readonly fee: bigint;
  /** The value of the header Host. */
  readonly host: string;
  /** Called now and then with the number that is signed. */
  readonly onProgress: (count: number) => void;
}

const PROGRESS_EVERY = 5_000;
const NO_ATTACHMENT = new Uint8Array(0);
/** All nodes of the family take this version, which has a list of proofs. */
const layout = transfer.layouts.find(({ version }) => version === 2)!;
const def = transfer as unknown as TxType;

/** The senders take turns, and each pays the next one. */
export function signTransfers(options: TransfersOptions, of: Cryptography): SignedTransfers {
  const { count, senders, fee, host, onProgress } = options;
  const head =
    `POST /transactions/broadcast HTTP/1.1\r\nHost: ${host}\r\n` +
    'Content-Type: application/json\r\nContent-Length: ';
  const requests: Buffer[] = [];
  const ids: string[] = [];
  const timestamp = Date.now();
  for (let n = 0; n < count; n++) {
    const sender = senders[n % senders.length]!;
    const recipient = senders[(n + 1) % senders.length]!.address;
    const values = {
      senderPublicKey: sender.publicKey,
      assetId: undefined,
      feeAssetId: undefined,
      timestamp,
      // Tells apart the transfers of one sender.
      amount: BigInt(1 + Math.floor(n / senders.length)),
      fee,
      recipient: { kind: 'address', bytes: recipient },
      attachment: NO_ATTACHMENT,
      atomicBadge: undefined,
    };
    const json = txToJson(signed({ def, layout }, values, sender, of), of.scheme);
    const body = stringify(json);
    requests.push(Buffer.from(`${head}${Buffer.byteLength(body)}\r\n\r\n${body}`));
    ids.push(String(json['id']));
    if ((n + 1) % PROGRESS_EVERY === 0) onProgress(n + 1);
  }
  return { count, bytes: (n) => requests[n]!, id: (n) => ids[n]! };
}
