/**
 * The two orders of an exchange: buy first, sell second (transactions.md#signature-style,
 * transactions.md#proof-style).
 *
 *   in version 1   length of order1 4 | length of order2 4 | order1 | order2    both of version 1
 *   in version 2   (length 4 | 01 if the order is of version 1 | order)*        the 01 not counted
 */
import { apiError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { type Codec, CodecError, type Reader, type Writer } from '../../codec/codec.ts';
import { mismatch } from '../../codec/primitives.ts';
import { type Order, orderFromJson, orderSchema, orderToJson, readOrder } from './order.ts';

export interface OrderPair {
  readonly order1: Order;
  readonly order2: Order;
}

/** Version 2. In JSON these are two members of the transaction. */
export const orders: Codec<OrderPair> = {
  flat: true,
  write(out, { order1, order2 }) {
    writeMarked(out, order1);
    writeMarked(out, order2);
  },
  read: (src) => ({ order1: readMarked(src), order2: readMarked(src) }),
  toJson: ({ order1, order2 }, scheme) => ({
    order1: orderToJson(order1, scheme),
    order2: orderToJson(order2, scheme),
  }),
  fromJson(json, path, scheme) {
    if (!isObject(json)) throw mismatch(path, json, 'jsobject');
    return {
      order1: orderFromJson(json['order1'], `${path}.order1`, scheme),
      order2: orderFromJson(json['order2'], `${path}.order2`, scheme),
    };
  },
  schema: { properties: { order1: orderSchema, order2: orderSchema } },
};

/** Version 1, which holds orders of version 1 only. */
export const ordersOfVersion1: Codec<OrderPair> = {
  ...orders,
  write(out, { order1, order2 }) {
    if (order1.version !== 1 || order2.version !== 1) {
      const reason = 'an exchange of version 1 takes orders of version 1';
      throw new CodecError('obj.order1', reason, apiError('Invalid', reason));
    }
    out.i32(order1.bytes.length);
    out.i32(order2.bytes.length);
    out.bytes(order1.bytes);
    out.bytes(order2.bytes);
  },
  read(src) {
    const sizes = [src.i32(), src.i32()] as const;
    return {
      order1: readSized(src, 1, sizes[0]),
      order2: readSized(src, 1, sizes[1]),
    };
  },
};

function writeMarked(out: Writer, order: Order): void {
  out.i32(order.bytes.length);
  if (order.version === 1) out.u8(1);
  out.bytes(order.bytes);
}

function readMarked(src: Reader): Order {
  const size = src.i32();
  const marker = src.u8();
  if (marker !== 1 && marker !== 2) throw new CodecError('bytes', `order version ${marker}`);
  if (marker === 2) src.position -= 1;
  return readSized(src, marker, size);
}

function readSized(src: Reader, version: 1 | 2, size: number): Order {
  const order = readOrder(src, version);
  if (order.bytes.length !== size) throw new CodecError('bytes', 'length of order is wrong');
  return order;
}
