// Blocks without transactions leave no lines behind.
import t from 'tap';
import { lineLog } from '../../../../src/adapters/log.ts';
import { withBlockLine } from '../../../../src/cli/commands/dev/block-line.ts';

function logged(terminal?: (text: string) => void) {
  const lines: string[] = [];
  const log = {
    ...lineLog({ level: 'info', pretty: false, colours: false }, (line) => lines.push(line)),
    reopen: () => undefined,
    flush: () => undefined,
    close: async () => undefined,
  };
  return { log: withBlockLine(log, terminal), lines };
}

t.test('in a pipe', async (t) => {
  const { log, lines } = logged();
  log.info('block.forged', { height: 2, txs: 0 });
  log.info('block.forged', { height: 3, txs: 1 });
  log.info('peer.connected');
  log.warn('block.refused', { txs: 0 });
  t.strictSame(
    lines.map((line) => JSON.parse(line).event),
    ['block.forged', 'peer.connected', 'block.refused'],
  );
});

t.test('on a terminal', async (t) => {
  const texts: string[] = [];
  const { log, lines } = logged((text) => texts.push(text));
  log.info('block.forged', { height: 2, txs: 0 });
  log.info('block.appended', { height: 3, txs: 1 });
  t.strictSame(lines, []);
  t.strictSame(texts, ['\r\x1b[K  block 2, 0 transactions', '\r\x1b[K  block 3, 1 transaction']);
  await log.close();
  t.equal(texts.at(-1), '\r\x1b[K', 'nothing stays');
});
