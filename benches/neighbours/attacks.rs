//! The pages of the hostile account, each asked for again as soon as it has ended.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::common::program::Program;

/// So many clients that ask for such pages, without end.
pub struct Attack {
    pub name: &'static str,
    pub clients: usize,
    /// The template's type.
    pub kind: &'static str,
    pub template: &'static str,
}

/// Under way until it is dropped.
pub struct Attackers {
    clients: Vec<JoinHandle<()>>,
    ends: Rc<RefCell<BTreeMap<String, usize>>>,
}

pub const ATTACKS: &[Attack] = &[
    Attack {
        name: "12 pages of blobs",
        clients: 12,
        kind: "ejs",
        template: "<script>const a=[];for(let i=0;i<2000;i++)a.push(new Blob([new Uint8Array(5e7)]))</script>",
    },
    Attack {
        name: "12 pages of blobs made by workers",
        clients: 12,
        kind: "ejs",
        template: "<script>new Worker(URL.createObjectURL(new Blob([`const a=[];for(let i=0;i<2000;i++)\
            a.push(new Blob([new Uint8Array(5e7)]))`])));setInterval(()=>document.title+='x',10)</script>",
    },
    Attack {
        name: "12 pages of blobs of answers",
        clients: 12,
        kind: "ejs",
        template: "<script>(async()=>{const a=[];for(let i=0;i<2000;i++)\
            a.push(await new Response(new Uint8Array(5e7)).blob())})();setInterval(()=>document.title+='x',10)</script>",
    },
    Attack {
        name: "12 pages of locks",
        clients: 12,
        kind: "ejs",
        template: "<script>for(let i=0;i<2e5;i++)navigator.locks.request('n'+i,()=>new Promise(()=>{}))</script>",
    },
    Attack {
        name: "12 pages of locks held by workers",
        clients: 12,
        kind: "ejs",
        template: "<script>new Worker(URL.createObjectURL(new Blob([`for(let i=0;i<2e5;i++)\
            navigator.locks.request('n'+i,()=>new Promise(()=>{}))`])));setInterval(()=>document.title+='x',10)</script>",
    },
    Attack {
        name: "12 pages of long addresses",
        clients: 12,
        kind: "ejs",
        template: "<body><script>const d='data:text/html,'+'x'.repeat(1.9e6);for(let i=0;i<100;i++){\
            const f=document.createElement('iframe');f.src=d+i;document.body.append(f)}</script>",
    },
    Attack { name: "16 endless pages", clients: 16, kind: "ejs", template: "<script>while(1);</script>" },
    Attack { name: "16 endless templates", clients: 16, kind: "ejs", template: "<% while (1); %>" },
    Attack {
        name: "3 reports of 10,000 static pages",
        clients: 3,
        kind: "ejs",
        template: "<% for (let i = 0; i < 10000; i++) { %><p style='break-after:page'>page <%= i %></p><% } %>",
    },
];

impl Attack {
    /// Begins it, with the token of its account.
    pub fn begin(&self, program: &Program, token: &str) -> Attackers {
        let body =
            json!({"type": self.kind, "target": "pdf", "template": self.template, "data": {"name": "Zoe"}})
                .to_string();
        let ends = Rc::new(RefCell::new(BTreeMap::new()));
        let clients = (0..self.clients).map(|_| {
            let (body, ends) = (body.clone(), Rc::clone(&ends));
            let asking = program.request_as(token, Method::POST, "/v1/documents/immediate-render");
            tokio::task::spawn_local(async move {
                while let Some(request) = asking.try_clone() {
                    let end = match request.body(body.clone()).send().await {
                        Ok(answer) => end_of(&answer.text().await.unwrap_or_default()),
                        Err(error) => error.to_string(),
                    };
                    *ends.borrow_mut().entry(end).or_default() += 1;
                }
            })
        });
        Attackers { clients: clients.collect(), ends }
    }
}

impl Attackers {
    /// How its jobs ended, and how often.
    pub fn ended(&self) -> String {
        let ends = self.ends.borrow();
        let ends = ends.iter().map(|(end, count)| format!("{count} x {end}"));
        format!("its jobs: {}", ends.collect::<Vec<_>>().join("; "))
    }
}

impl Drop for Attackers {
    fn drop(&mut self) {
        self.clients.iter().for_each(JoinHandle::abort);
    }
}

fn end_of(answer: &str) -> String {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let text = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let detail = text("/detail")
        .unwrap_or_else(|| if text("/url").is_some() { "done".into() } else { answer.to_string() });
    detail.chars().take(70).collect()
}
