//! `platen account` and `platen token`, with a running service and without; the control socket.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;

use platen::accounts::admin::{AdminReply, AdminRequest};
use platen::accounts::control;
use platen::problem::Code;
use platen::storage::data_dir::DataDir;
use platen::storage::index::SledIndex;

use super::DataFolder;

/// The ids of the tokens in a list, first to last.
fn ids(list: &str) -> Vec<String> {
    list.lines().map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[actix::test]
async fn commands_do_the_same_with_and_without_a_running_service() {
    let data = DataFolder::new();
    for running in [false, true] {
        let service = if running { Some(data.service().await) } else { None };
        let name = format!("acme-{running}");
        let created = format!("account create {name} --plan gold --documents-per-month 5");
        let output = data.command(&created).await.unwrap();
        assert!(output.contains(&name) && output.contains("plan=gold") && output.contains("0/5"), "{output}");
        let refused = data.command(&created).await.unwrap_err();
        assert!(refused.contains(&format!("'{name}' exists already")), "{refused}");
        let refused = data.command("account create ../etc").await.unwrap_err();
        assert!(refused.contains("cannot be a name"), "{refused}");

        let set = format!(
            "account set {name} --documents-per-month unlimited --status past_due --renews-at 2030-01-31"
        );
        let output = data.command(&set).await.unwrap();
        assert!(output.contains("0/unlimited") && output.contains("past_due"), "{output}");
        assert!(output.contains("renews-at=2030-01-31T00:00:00Z"), "{output}");
        let listed = data.command("account list").await.unwrap();
        assert!(listed.contains(output.strip_prefix("account ").unwrap()), "{listed}");
        let refused = data.command("account set nobody --plan x").await.unwrap_err();
        assert!(refused.contains("no account 'nobody'"), "{refused}");

        assert!(output.contains("stored-bytes=0/10737418240  open-jobs=0/1000"), "{output}");
        let set = format!("account set {name} --stored-bytes-limit 5000 --open-jobs-limit unlimited");
        let own = "stored-bytes=0/5000 (own)  open-jobs=0/unlimited (own)";
        assert!(data.command(&set).await.unwrap().contains(own));
        data.command(&format!("account set {name} --plan silver")).await.unwrap();
        assert!(data.command("account list").await.unwrap().contains(own), "what is not given stays");
        let set = format!("account set {name} --stored-bytes-limit default --open-jobs-limit 7");
        let output = data.command(&set).await.unwrap();
        assert!(output.contains("stored-bytes=0/10737418240  open-jobs=0/7 (own)"), "{output}");

        let token = data.command(&format!("token create --account {name}")).await.unwrap();
        assert_eq!(token.len(), "pl_".len() + 43 + 1, "the token alone: {token}");
        let tokens = data.command(&format!("token list --account {name}")).await.unwrap();
        assert_eq!(ids(&tokens).len(), 1);
        assert!(tokens.contains(&token.trim()[42..]) && !tokens.contains(token.trim()), "{tokens}");
        let revoked = data.command(&format!("token revoke {}", ids(&tokens)[0])).await.unwrap();
        assert!(revoked.contains("revoked "), "{revoked}");
        let refused = data.command("token create --account nobody").await.unwrap_err();
        assert!(refused.contains("no account 'nobody'"), "{refused}");
        let unknown = "token revoke 00000000-0000-0000-0000-000000000000";
        assert!(data.command(unknown).await.unwrap_err().contains("there is no token"));
        if let Some(service) = service {
            service.stop().await;
        }
    }
    assert_eq!(data.command("account list").await.unwrap().lines().count(), 2);
    assert_eq!(data.command("token list").await.unwrap().lines().count(), 2);
}

#[actix::test]
async fn a_token_opens_its_account_and_nothing_once_it_is_revoked() {
    let data = DataFolder::new();
    data.command("account create acme").await.unwrap();
    let token = data.command("token create --account acme").await.unwrap().trim().to_owned();
    let service = data.service().await;
    let account = service.authenticate(&token).await.unwrap();
    let second = data.command("token create --account acme").await.unwrap().trim().to_owned();
    assert_eq!(service.authenticate(&second).await.unwrap(), account);
    let list = data.command("token list --account acme").await.unwrap();
    data.command(&format!("token revoke {}", ids(&list)[0])).await.unwrap();
    let wrong =
        [token.clone(), String::new(), format!("{second}x"), second[1..].to_owned(), "pl_".to_owned()];
    for token in wrong {
        assert_eq!(service.authenticate(&token).await.unwrap_err().code, Code::Unauthorized);
    }
    assert_eq!(service.authenticate(&second).await.unwrap(), account);
    service.stop().await;
    let service = data.service().await;
    assert_eq!(service.authenticate(&token).await.unwrap_err().code, Code::Unauthorized);
    assert_eq!(service.authenticate(&second).await.unwrap(), account);
}

#[actix::test]
async fn an_account_has_as_many_tokens_as_the_limit_and_keeps_as_many_revoked() {
    let mut data = DataFolder::new();
    data.config.accounts.token_limit = 3;
    let service = data.service().await;
    let (_, first) = service.account("acme", None).await;
    let create = || {
        service.administer(AdminRequest::CreateToken { account: "acme".to_owned(), name: None, expiry: None })
    };
    create().await.unwrap();
    create().await.unwrap();
    let refused = create().await.unwrap_err().to_string();
    assert!(refused.contains("3 active tokens"), "{refused}");
    for _ in 0..6 {
        let list = data.command("token list --account acme").await.unwrap();
        let active = list.lines().find(|line| line.ends_with("active")).unwrap();
        data.command(&format!("token revoke {}", ids(active)[0])).await.unwrap();
        create().await.unwrap();
        create().await.unwrap_err();
    }
    let list = data.command("token list").await.unwrap();
    assert_eq!(list.lines().filter(|line| line.ends_with("active")).count(), 3, "{list}");
    assert_eq!(list.lines().count(), 6, "{list}");
    assert_eq!(service.authenticate(&first).await.unwrap_err().code, Code::Unauthorized);
}

#[actix::test]
async fn lists_longer_than_a_page_are_whole() {
    let data = DataFolder::new();
    let service = data.service().await;
    for number in 0..205 {
        let name = format!("account-{number:03}");
        service
            .administer(AdminRequest::CreateAccount { name, plan: None, documents_per_month: None, id: None })
            .await
            .unwrap();
    }
    let list = data.command("account list").await.unwrap();
    assert_eq!(list.lines().count(), 205);
    assert!(list.lines().last().unwrap().starts_with("account-204 "));
}

/// A line to the socket as it is, and what comes back.
async fn send_line(data: &DataFolder, line: Vec<u8>) -> String {
    let socket = data.socket();
    let talk = move || {
        let mut stream = UnixStream::connect(socket).unwrap();
        // The service may have refused and closed before it read everything.
        let _sent = stream.write_all(&line);
        let mut message = String::new();
        let _read = stream.read_to_string(&mut message);
        message
    };
    tokio::task::spawn_blocking(talk).await.unwrap()
}

#[actix::test]
async fn the_socket_is_private_and_answers_nonsense_with_a_sentence() {
    let mut data = DataFolder::new();
    data.config.accounts.control_line_limit_bytes = 2_000;
    let service = data.service().await;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data.socket()), 0o600);
    assert_eq!(mode(data.socket().parent().unwrap()), 0o700);
    for line in [&b"nonsense\n"[..], b"{}\n", b"{\"command\":\"drop_everything\"}\n", b"\n"] {
        let message = send_line(&data, line.to_vec()).await;
        assert!(message.contains("the request cannot be read"), "{message}");
    }
    let exact = send_line(&data, [vec![b' '; 1_999], b"\n".to_vec()].concat()).await;
    assert!(exact.contains("the request cannot be read"), "{exact}");
    let longer = send_line(&data, vec![b' '; 2_001]).await;
    assert!(longer.contains("control_line_limit_bytes"), "{longer}");
    let reply = service.administer(AdminRequest::ListAccounts { after: None }).await.unwrap();
    assert_eq!(reply, AdminReply::Accounts(Vec::new()));
    service.stop().await;
    assert!(!data.socket().exists());
}

#[actix::test]
async fn a_silent_peer_is_closed_and_does_not_keep_others_out() {
    let mut data = DataFolder::new();
    data.config.accounts.control_connection_limit = 1;
    data.config.accounts.control_timeout_ms = 2_000;
    let service = data.service().await;
    let silent = UnixStream::connect(data.socket()).unwrap();
    // The command waits behind the silent peer, within its own time limit.
    data.config.accounts.control_timeout_ms = 20_000;
    data.command("account create acme").await.unwrap();
    drop(silent);
    service.stop().await;
}

#[actix::test]
async fn the_socket_of_a_killed_service_is_replaced() {
    let data = DataFolder::new();
    let folder = DataDir::open(data.config.storage.data_dir.as_ref()).unwrap();
    drop(UnixListener::bind(folder.control_socket()).unwrap());
    assert!(data.socket().exists());
    data.command("account create offline").await.unwrap();
    let service = data.service().await;
    data.command("account create online").await.unwrap();
    assert_eq!(service.used("online").await, 0);
    service.stop().await;
}

#[actix::test]
async fn a_service_that_does_not_answer_is_named() {
    let data = DataFolder::new();
    let folder = DataDir::open(data.config.storage.data_dir.as_ref()).unwrap();
    let index = Arc::new(SledIndex::open(&folder.index(), &data.config.storage).await.unwrap());
    let refused = data.command("account list").await.unwrap_err();
    assert!(refused.contains("does not answer on its control socket"), "{refused}");
    drop(index);
}

#[actix::test]
async fn a_path_too_long_for_a_socket_is_refused_in_a_sentence() {
    let data = DataFolder::new();
    let service = data.service().await;
    let path = data.socket().with_file_name("x".repeat(108));
    let refused =
        control::serve(&path, (service.accounts.clone(), service.backups.clone()), &data.config.accounts)
            .unwrap_err();
    assert!(refused.to_string().contains("the system takes 107"), "{refused}");
}
