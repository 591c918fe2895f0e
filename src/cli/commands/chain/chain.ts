/**
 * `platform-node chain export|import|rollback|hash`: the chain of a node that is not running; `export`
 * and `hash` also work on a copy of that of a running one.
 */

import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Log } from '../../../base/ports/log.ts';
import type { Verifier } from '../../../base/ports/verifier.ts';
import type { Blockchain } from '../../../chain/blockchain.ts';
import type { Consensus } from '../../../consensus/consensus.ts';
import type { RemovedBlocks } from '../../../miner/removed-blocks.ts';
import type { Config } from '../../../node/config/settings.ts';
import type { ChainRules } from '../../../tx/rules/chain-rules.ts';
import type { SetFlags } from '../../config-file.ts';
import { CliError, EXIT } from '../../terminal/exit.ts';
import type { Interruption } from '../../terminal/interruption.ts';
import { setOption } from '../config.ts';
import type { ChainFile } from './chain-file.ts';

interface Flags extends SetFlags {
  /** Works on a copy, while a node may run. */
  readonly running?: true;
}

interface ChainFlags extends Flags {
  /** Where the copy is made and stays; absent: it is deleted afterwards. */
  readonly copyTo?: string;
  /** The folder of a copy that is there already. */
  readonly copy?: string;
  /** Makes a store where there is none. */
  readonly create?: true;
}

export function register(command: Command): void {
  const sub = (words: string, summary: string) =>
    command.command(words).description(summary).addOption(setOption());
  sub(
    'export <config> <file>',
    "write the blocks to a file, up to the last one; '-' writes to stdout",
  )
    .option('--from <height>', 'first block', heightFrom, 2)
    .addOption(fileVersion())
    .addOption(running())
    .action(exportChain);
  sub(
    'import <config> <file>',
    'append the blocks of a file with every check; after an interruption, the same command continues',
  )
    .option('--keep-note', 'the note of the voter is the newest that its key has')
    .action(importChain);
  sub(
    'rollback <config>',
    'roll back the blocks above a height; the next start has their transactions in the pool',
  )
    .argument('<height>', 'last block to keep', heightFrom)
    .option(
      '--give-up-turns',
      'blocks of this node do not come back, and it never signs others in their turns',
    )
    .action(rollback);
  sub('hash <config>', 'print the state hash')
    .argument('[height]', 'default: the last block', heightFrom)
    .addOption(running())
    .action(stateHash);
}

const running = () =>
  new Option('--running', 'work on a copy of the store, while a node goes on with it');

/** Release 1.1.0 reads files of version 1 only. */
const fileVersion = () =>
  new Option(
    '--file-version <version>',
    'of the file; release 1.1.0 reads 1, which has no end mark',
  )
    .choices(['1', '2'])
    .default('2');

function heightFrom(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('expected a height');
  return Number(text);
}

interface Opened {
  readonly config: Config;
  readonly consensus: Consensus;
  readonly log: Log;
  readonly verifier: Verifier;
  readonly rules: ChainRules;
}

/** Opens the chain of a configuration, passes it on, and closes it in any case. */
export async function withChain<T>(
  path: string,
  flags: ChainFlags,
  job: (blockchain: Blockchain, opened: Opened) => Promise<T>,
): Promise<T> {
  const { loadConfig } = await import('../../config-file.ts');
  const { cryptographyOfConfig } = await import('../../cryptography.ts');
  const { genesisBlock } = await import('../../genesis-block.ts');
  const { copyOfChainStore, openChainStore, openCopy, requireStore } = await import(
    './chain-store.ts'
  );
  const { stderrLog } = await import('../../../adapters/log.ts');
  const { systemClock } = await import('../../../adapters/system.ts');
  const { openBlockchain } = await import('../../../node/open-blockchain.ts');
  const { createVerifyThreads } = await import('../../../adapters/verify/signature-threads.ts');
  const { config } = await loadConfig(path, flags);
  if (flags.create !== true && flags.copy === undefined) requireStore(config);
  const { family, scheme } = cryptographyOfConfig(config);
  const genesis = genesisBlock(config);
  const log = stderrLog('warn', process.stderr.isTTY === true);
  const isCopied = flags.running === true || flags.copyTo !== undefined;
  const copy = isCopied ? await copyOfChainStore(config, flags.copyTo) : undefined;
  const store =
    copy?.store ??
    (flags.copy === undefined
      ? await openChainStore(config, genesis, log)
      : await openCopy(flags.copy));
  const verifier = createVerifyThreads(family, { log });
  try {
    const ports = { scheme, store, verifier, clock: systemClock(), log };
    const { blockchain, consensus, rules } = await openBlockchain(config, genesis, ports);
    return await job(blockchain, { config, consensus, log, verifier, rules });
  } finally {
    await verifier.close();
    await (copy ?? store).close();
  }
}

/** What only reads the chain can do so beside the node, and says how. */
function orRunning(cause: unknown): never {
  if (!(cause instanceof CliError) || cause.code !== EXIT.locked) throw cause;
  throw new CliError(`${cause.message}, or add --running`, EXIT.locked);
}

const noBlock = (height: number, tip: number): CliError =>
  new CliError(`there is no block ${height}: the last one is ${tip}`);

interface ExportFlags extends Flags {
  readonly from: number;
  readonly fileVersion: '1' | '2';
}

async function exportChain(path: string, file: string, flags: ExportFlags) {
  const { writeChainFile } = await import('./chain-file.ts');
  const { headerRowAt, blockAt } = await import('../../../chain/store/stored-blocks.ts');
  const { progressLine } = await import('./progress-line.ts');
  const { stringify } = await import('../../../base/json/json.ts');
  const { printJson, say } = await import('../../terminal/output.ts');
  const { from } = flags;
  await withChain(path, flags, async (blockchain) => {
    const { view } = blockchain;
    const genesisId = headerRowAt(view, 1)?.header.signature ?? new Uint8Array(0);
    const tip = blockchain.tip().height;
    if (from > tip) throw noBlock(from, tip);
    const progress = progressLine(tip);
    function* blocks() {
      for (let height = from; height <= tip; height++) {
        const block = blockAt(view, height);
        if (block === undefined) throw new CliError(`block ${height} is missing in the store`);
        progress.show(height, '');
        yield block;
      }
    }
    const version = flags.fileVersion === '1' ? 1 : 2;
    const to = await writeChainFile(file, genesisId, from, blocks(), version).finally(progress.end);
    // Stdout has the file then.
    if (file === '-') say(stringify({ file, from, to }));
    else printJson({ file, from, to });
  }).catch(orRunning);
}

/** A note from elsewhere would make the voter contradict itself. Throws CliError. */
export async function requireNoNote(config: Config): Promise<void> {
  const { files } = await import('../../../adapters/files.ts');
  const { noteDisk, notePath } = await import('../../../node/finality/voter-note.ts');
  const path = notePath(config);
  if (noteDisk(files, path).read() === undefined) return;
  throw new CliError(
    `'${path}' is the note of a voter. If its key has voted since, or the note is a copy, replace it by an empty file: ` +
      'the node then votes again once it is safe. Otherwise add --keep-note',
  );
}

async function importChain(path: string, file: string, flags: Flags & { keepNote?: true }) {
  const { encodeHex } = await import('../../../base/hex.ts');
  const { onInterruption } = await import('../../terminal/interruption.ts');
  const { printJson, say } = await import('../../terminal/output.ts');
  await withChain(path, { ...flags, create: true }, async (blockchain, { verifier, config }) => {
    if (flags.keepNote !== true) await requireNoNote(config);
    const source = await fileFor(blockchain, file);
    const interruption = onInterruption();
    const appending = appendFile(blockchain, verifier, source, interruption);
    const { transactions, to } = await appending.catch((cause: unknown) => {
      const { height } = blockchain.tip();
      say(
        `the chain ends at height ${height}: the blocks up to there stay, and then came an error`,
      );
      throw cause;
    });
    interruption.release();
    const { height } = blockchain.tip();
    const hash = blockchain.stateHash(height);
    const read = { from: source.from, to };
    printJson({ height, transactions, stateHash: hash && encodeHex(hash), read });
    if (interruption.isAsked()) {
      say(`interrupted at height ${height}; the same command goes on from there`);
      process.exitCode = EXIT.interrupted;
    } else if (!source.hasEnd) {
      say(
        `'${file}' has version 1 and no end mark, so nothing shows whether it is cut off; its last block is ${to}`,
      );
    }
  });
}

/** Throws CliError where its blocks do not continue the chain. */
async function fileFor(blockchain: Blockchain, path: string): Promise<ChainFile> {
  const { readChainFile } = await import('./chain-file.ts');
  const { headerRowAt } = await import('../../../chain/store/stored-blocks.ts');
  const { equal } = await import('../../../base/bytes.ts');
  const { view } = blockchain;
  const source = await readChainFile(path, view.scheme);
  const genesis = headerRowAt(view, 1)?.header.signature;
  const { height } = blockchain.tip();
  const isOfNetwork = genesis !== undefined && equal(genesis, source.genesisId);
  if (isOfNetwork && source.from <= height + 1) return source;
  source.close();
  throw new CliError(
    isOfNetwork
      ? `'${path}' begins with block ${source.from}, and the chain ends at height ${height}: import the blocks between first`
      : `'${path}' holds blocks of another network`,
  );
}

/** `to`: the height of the last block that was read. */
async function appendFile(
  blockchain: Blockchain,
  verifier: Verifier,
  source: ChainFile,
  interruption: Interruption,
): Promise<{ readonly transactions: number; readonly to: number }> {
  const { importBlocks } = await import('../../../chain/import/import-blocks.ts');
  const { untilAsked } = await import('../../terminal/interruption.ts');
  const { progressLine } = await import('./progress-line.ts');
  const progress = progressLine(undefined);
  const started = performance.now();
  let to = source.from - 1;
  async function* counted() {
    for await (const block of untilAsked(source.blocks, interruption)) {
      to++;
      yield block;
    }
  }
  const importing = importBlocks(blockchain, verifier, counted(), {
    from: source.from,
    onProgress: ({ height, transactions: count }) => {
      const rate = Math.round((count * 1000) / (performance.now() - started));
      progress.show(height, `${rate} tx/s`);
    },
  });
  return { transactions: await importing.finally(progress.end), to };
}

interface RollbackFlags extends Flags {
  readonly giveUpTurns?: boolean;
}

/**
 * The transactions of the blocks go to the journal of the pool first, and blocks of this node to the
 * journal of its turns, for the next start.
 */
async function rollback(path: string, target: number, flags: RollbackFlags) {
  const { poolJournal } = await import('../../journals.ts');
  const { appendInPortions } = await import('../../../mempool/journal/journal-portions.ts');
  const { orderRecords } = await import('../../../mempool/journal/return-order.ts');
  const { recordsOf } = await import('../../../mempool/reorg/readmission.ts');
  const { UsedSlots } = await import('../../../miner/used-slots.ts');
  const { giveUpRemovedBlocks, keepRemovedBlocks } = await import(
    '../../../miner/removed-blocks.ts'
  );
  const { OwnFailure } = await import('../../../base/errors.ts');
  const { systemClock } = await import('../../../adapters/system.ts');
  const { usedSlotsJournal } = await import('../../journals.ts');
  const { printJson, say, warn } = await import('../../terminal/output.ts');
  await withChain(path, flags, async (blockchain, { config, consensus, log }) => {
    const clock = systemClock();
    const turnsFile = usedSlotsJournal(config, log);
    const ports = { journal: poolJournal(config, log), clock };
    const chain = {
      blockchain,
      consensus,
      clock,
      turns: new UsedSlots(turnsFile, log, config.storage.maxRollbackDepth),
      own: blockchain.view.scheme.addressFromText(config.ownerAddress),
    };
    const settleTurns = flags.giveUpTurns === true ? giveUpRemovedBlocks : keepRemovedBlocks;
    let keptTransactions = 0;
    let blocks: RemovedBlocks | undefined;
    blockchain.listen({
      async rollingBack(txs, above) {
        const kept = new Map(recordsOf(txs));
        await appendInPortions([...orderRecords([...kept.keys()]), ...kept.values()], ports);
        keptTransactions = kept.size;
        blocks = await settleTurns(above, chain);
      },
    });
    try {
      const removedTransactions = (await blockchain.rollback(target)).length;
      const { height } = blockchain.tip();
      // The blocks may have left the chain before.
      if (flags.giveUpTurns === true) blocks ??= await giveUpRemovedBlocks(height, chain);
      const { kept, given } = blocks ?? { kept: 0, given: 0 };
      printJson({
        height,
        removedTransactions,
        keptTransactions,
        returningBlocks: kept,
        givenUpTurns: given,
      });
      const notice = turnsNotice(height, { kept, given }, consensus.kind);
      if (flags.giveUpTurns === true && consensus.kind === 'pos') warn(notice);
      else say(notice);
    } catch (cause) {
      if (!(cause instanceof OwnFailure)) throw cause;
      throw new CliError(`nothing is rolled back: ${cause.message}`);
    } finally {
      await ports.journal.close();
      await turnsFile.close();
    }
  });
}

/** What becomes of the blocks of this node, and of its turns. */
function turnsNotice(height: number, { kept, given }: RemovedBlocks, kind: 'poa' | 'pos'): string {
  if (kept + given === 0) return 'no block of this node is concerned';
  if (kept > 0) {
    return (
      `${kept} removed blocks of this node come back after its start, one after the other, where ` +
      'nobody else goes on first; --give-up-turns keeps them out'
    );
  }
  const away = `the turns of ${given} blocks of this node are given up: the blocks do not come back`;
  return kind === 'pos'
    ? `${away}, and this node never signs others on the same parents. Where no other miner makes ` +
        `the block after height ${height}, the chain ends there`
    : `${away}, and this node makes its next block in its next turn`;
}

async function stateHash(path: string, asked: number | undefined, flags: Flags) {
  const { encodeHex } = await import('../../../base/hex.ts');
  const { printJson } = await import('../../terminal/output.ts');
  await withChain(path, flags, async (blockchain) => {
    const tip = blockchain.tip().height;
    const height = asked ?? tip;
    if (height > tip) throw noBlock(height, tip);
    const hash = blockchain.stateHash(height);
    printJson({ height, stateHash: hash === undefined ? null : encodeHex(hash) });
  }).catch(orRunning);
}
