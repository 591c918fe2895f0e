/** Numbers and names of the tables that a store under test is opened with. */
export const storeTables = [
  { id: 1, name: 'one' },
  { id: 2, name: 'two' },
  { id: 7, name: 'seven' },
];
