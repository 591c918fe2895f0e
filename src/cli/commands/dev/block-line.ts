/**
 * Blocks of a development network in the log. One of a second would push away the keys and addresses
 * that the screen shows: on a terminal one line is written again for each, elsewhere those without
 * transactions are at the level debug.
 */
import { ANEW, type LogControl } from '../../../adapters/log.ts';

const BLOCKS = ['block.forged', 'block.appended'];

/** `terminal` writes to it; absent: the log goes elsewhere. */
export function withBlockLine(log: LogControl, terminal?: (text: string) => void): LogControl {
  return {
    ...log,
    info(event, fields = {}) {
      const isBlock = BLOCKS.includes(event);
      if (isBlock && terminal !== undefined) {
        const { height, txs } = fields;
        terminal(`${ANEW}  block ${height}, ${txs} ${txs === 1 ? 'transaction' : 'transactions'}`);
      } else log[isBlock && fields['txs'] === 0 ? 'debug' : 'info'](event, fields);
    },
    close() {
      terminal?.(ANEW);
      return log.close();
    },
  };
}
