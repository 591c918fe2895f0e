const root='/work/main';
const { memoryDatabase, postgresCluster } = await import(root+'/test/data-service/stores.ts');
const { migrate } = await import(root+'/src/data-service/schema/migrate.ts');
const tears: (()=>unknown)[] = [];
const scope = { teardown: (f: () => unknown) => { tears.push(f); } };
for (let i=0;i<3;i++){ let a=performance.now(); const db=await memoryDatabase(); const b=performance.now(); await migrate(db,{indexText:true}); const c=performance.now(); await db.close(); console.log('pglite open',Math.round(b-a),'migrate',Math.round(c-b),'close',Math.round(performance.now()-c)); }
let a=performance.now(); const cl=await postgresCluster(scope as never); console.log('cluster', Math.round(performance.now()-a));
for (let i=0;i<3;i++){ let a=performance.now(); const url=await cl.createDatabase(); const b=performance.now(); const db=cl.open(url); await migrate(db,{indexText:true}); const c=performance.now(); await db.close(); console.log('pg create',Math.round(b-a),'migrate',Math.round(c-b)); }
for (const f of tears) await f(); process.exit(0);
