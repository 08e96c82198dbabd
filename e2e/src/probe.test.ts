import { test } from "node:test";
import { startWorld } from "./world.ts";
import { call, send, sendRaw, bytesOf, stampFields, stampOf } from "./wire.ts";
for (const d of ["sqlite","postgres"] as const) test(d, async (t) => {
  const t0=performance.now();
  const w = await startWorld(t, d); if (!w) return;
  console.log("world", performance.now()-t0);
  const u = w.server.url; const q="/public/v1/query/whoami"; const body={organizationId:w.organizationId};
  const show=(n:string,a:any)=>console.log(n, a.status??"", a.headers?.["content-type"]??"", typeof a==="string"?JSON.stringify(a.slice(0,400)):a.text?.slice(0,300));
  for (const p of [w.root, w.deputy, w.member, w.expired, w.bothInParent]) show(p.userName, await call(u,q,p.p256,body));
  show("subA owner via parent", await call(u,q,w.subA.owner.p256,body));
  show("twin via parent", await call(u,q,w.subA.twin.p256,body));
  show("both via sub", await call(u,q,w.bothInParent.p256,{organizationId:w.subA.organizationId}));
  show("root on sub", await call(u,q,w.root.p256,{organizationId:w.subA.organizationId}));
  if (d==="postgres") return;
  const mk=(o:string,p:object={userTagName:"x"+Math.random(),userIds:[]})=>({type:"ACTIVITY_TYPE_CREATE_USER_TAG",timestampMs:String(Date.now()),organizationId:o,parameters:p});
  const c="/public/v1/submit/create_user_tag";
  show("root submit", await call(u,c,w.root.p256,mk(w.organizationId)));
  show("member submit", await call(u,c,w.member.p256,mk(w.organizationId)));
  show("root on sub submit", await call(u,c,w.root.p256,mk(w.subA.organizationId)));
  show("sub on parent submit", await call(u,c,w.subA.owner.p256,mk(w.organizationId)));
  for (const ct of [undefined,"","garbage","text/plain","application/json; charset=utf-8","application/x-www-form-urlencoded","multipart/form-data; boundary=x",";;;","application/json;","a/b;c=\"","application/ json"]) {
    const b=bytesOf(body); const st=stampOf(stampFields(w.root.p256,b));
    show("ct "+ct, await send(u,{path:q,headers:[["X-Stamp",st],...(ct===undefined?[]:[["Content-Type",ct] as const])],body:b}));
  }
  for (const m of ["GET","HEAD","PUT","DELETE","PATCH","TRACE","PROPFIND","OPTIONS","QUERY"]) for (const p of [q,c,"/nothing","/healthz"]) { const a = await send(u,{method:m,path:p}); show(m+" "+p,a); }
  for (const p of ["/public/v1/%zz","//public//v1//query//whoami","/public/v1/query/whoami/","/public/v1/query/whoami?x=1","/%00","/public/v1/query/"+"a".repeat(5000)]) show("path "+p.slice(0,40), await send(u,{path:p,body:"{}"}));
  for (const r of ["GET /healthz HTTP/1.1\r\n\r\n","POST "+q+" HTTP/1.0\r\ncontent-length: 2\r\n\r\n{}","POST "+q+" HTTP/1.1\r\nHost: x\r\nExpect: foo\r\ncontent-length: 2\r\n\r\n{}","OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n","POST http://h"+q+" HTTP/1.1\r\nHost: x\r\ncontent-length: 2\r\n\r\n{}","rubbish\r\n\r\n","POST "+q+" HTTP/1.1\r\nHost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n","CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n","POST "+q+" HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade\r\ncontent-length: 2\r\n\r\n{}","GET /healthz HTTP/1.1\r\nHost: x\r\nx: "+"a".repeat(60000)+"\r\n\r\n","POST "+q+" HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n"+"a".repeat(1048577),"POST "+q+" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n"+"a".repeat(0x200000)+"\r\n0\r\n\r\n", "POST "+q+" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"]) show("raw "+r.slice(0,50), await sendRaw(u,r).catch(e=>"ERR "+e));
  show("413", await send(u,{path:q,body:new Uint8Array(1048577)}).catch(e=>"ERR "+e));
  show("many headers", await send(u,{path:q,body:"{}",headers:Array.from({length:3000},(_, i)=>["h"+i,"v"] as const)}).catch(e=>"ERR "+e));
  for (const [h,v] of [["X-Stamp-Webauthn","{}"],["X-Session","a"],["X-Stamp-Attested","a"]] as const) show(h, await send(u,{path:q,body:bytesOf(body),headers:[[h,v]]}));
  show("metrics", await send(u,{method:"GET",path:"/metrics"}));
  show("wk", await send(u,{method:"GET",path:"/.well-known/keystead.json"}));
  console.log(w.server.output().slice(0,3000));
});
