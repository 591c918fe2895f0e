/**
 * What names mean on the paths of an estimate. A snapshot and the return to one take no time,
 * however much has changed: rows are shared, and a change copies its row if a snapshot may have it.
 */
const ROW_BITS = 5;
const ROW_LENGTH = 1 << ROW_BITS;

/** Items that were made after the snapshot `since` belong to no snapshot and may change. */
interface Owned<Item> {
  readonly since: number;
  readonly items: Item[];
}

type Row<Meaning> = Owned<Meaning | undefined>;

/** To be given back to the same table; anybody else leaves it alone. */
export type Snapshot<Meaning> = Owned<Row<Meaning>>;

/** Names are numbers. */
export class NameTable<Meaning> {
  private rows: Owned<Row<Meaning>>;
  private snapshots = 0;

  /** Of names below `count`, without any meaning. */
  constructor(count: number) {
    const row = { since: -1, items: new Array<Meaning | undefined>(ROW_LENGTH).fill(undefined) };
    this.rows = { since: -1, items: new Array(Math.ceil(count / ROW_LENGTH)).fill(row) };
  }

  get(name: number): Meaning | undefined {
    return this.rows.items[name >> ROW_BITS]!.items[name % ROW_LENGTH];
  }

  /** Copies a row and the list of rows at most. */
  set(name: number, meaning: Meaning): void {
    const { snapshots } = this;
    if (this.rows.since !== snapshots) this.rows = copyOf(this.rows, snapshots);
    let row = this.rows.items[name >> ROW_BITS]!;
    if (row.since !== snapshots) {
      row = copyOf(row, snapshots);
      this.rows.items[name >> ROW_BITS] = row;
    }
    row.items[name % ROW_LENGTH] = meaning;
  }

  snapshot(): Snapshot<Meaning> {
    this.snapshots++;
    return this.rows;
  }

  restore(snapshot: Snapshot<Meaning>): void {
    this.rows = snapshot;
  }
}

const copyOf = <Item>({ items }: Owned<Item>, since: number): Owned<Item> => ({
  since,
  items: items.slice(),
});
