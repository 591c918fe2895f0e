/**
 * How much garbage V8 lets the heap of a node gather. Under load V8 waits until the heap is 3.7
 * times what was in use after the last collection, which is mostly transactions of blocks that are
 * on disk. The collection itself runs beside the main thread, which stops for about 5 ms.
 */
import { setFlagsFromString } from 'node:v8';

/** Of what is in use: the next collection begins when the old generation has grown by so much. */
const GROWTH_PERCENT = 150;

/** For all threads of the process; takes effect at the next collection. */
export const limitHeapGrowth = (): void =>
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
