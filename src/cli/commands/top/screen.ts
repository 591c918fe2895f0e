/**
 * One screen of a terminal, drawn again and again. What the terminal showed before is back at the end,
 * also at that of the process.
 */
import type { WriteStream } from 'node:tty';

const COLUMNS = 80;
const ROWS = 24;
const OPEN = '\x1b[?1049h\x1b[?25l';
const CLOSE = '\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const REST_OF_LINE = '\x1b[K';
const REST_OF_SCREEN = '\x1b[J';

export class Screen {
  private readonly terminal: Pick<WriteStream, 'write' | 'columns' | 'rows'>;
  private readonly stopAtExit = (): void => this.stop();
  private isOpen = false;

  constructor(terminal: Pick<WriteStream, 'write' | 'columns' | 'rows'>) {
    this.terminal = terminal;
  }

  start(): void {
    this.isOpen = true;
    process.on('exit', this.stopAtExit);
    this.terminal.write(OPEN);
  }

  /** Of the lines only what fits; the screen never scrolls. */
  draw(linesFor: (width: number) => readonly string[]): void {
    // A terminal without a size has one all the same.
    const { columns, rows } = this.terminal;
    const lines = linesFor(columns > 0 ? columns : COLUMNS).slice(0, rows > 0 ? rows : ROWS);
    const text = lines.map((line) => `${line}${REST_OF_LINE}`).join('\r\n');
    this.terminal.write(`${HOME}${text}${REST_OF_SCREEN}`);
  }

  stop(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    process.removeListener('exit', this.stopAtExit);
    this.terminal.write(CLOSE);
  }
}
