//! What clients and proxies expect of an HTTP server: request ids, `HEAD`, readable problems also for malformed requests,
//! and an interactive page of the interface whose examples run.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::app::TestApp;

#[tokio::test]
async fn a_callers_id_is_taken_over_when_it_is_fit_for_a_log() {
    let mut app = TestApp::with(&[("log.filter", "debug"), ("log.format", "json")]).await;
    app.stop();
    let file = app.scratch().join("log");
    app.log = Some(file.clone());
    app.launch();
    app.until_ready().await;
    let longer = "a".repeat(129);
    let request_id_of = async |id: &str| {
        let request = app.request(Method::GET, "/v1/jobs/none").header("x-request-id", id);
        let answer = request.send().await.unwrap();
        let request_id = answer.headers()["x-request-id"].to_str().unwrap().to_owned();
        let problem: Value = answer.json().await.unwrap();
        assert_eq!(problem["instance"], request_id.as_str());
        request_id
    };
    for id in ["Order-12-a", &longer[1..]] {
        assert_eq!(request_id_of(id).await, id);
    }
    for id in ["", "a b", "a_b", "a\"b", &longer] {
        let own = request_id_of(id).await;
        assert!(own != id && own.len() == 36 && own.split('-').count() == 5, "{id:?}: {own}");
    }
    app.stop();
    let log = std::fs::read_to_string(file).unwrap();
    assert!(log.contains("Order-12-a") && !log.contains(&longer) && !log.contains("a_b"), "{log}");
}

#[tokio::test]
async fn every_readable_route_answers_head() {
    let app = TestApp::start().await;
    let job = app.prepared("html", "<p>1</p>", json!({})).await;
    let view = app.finish(&job).await;
    let output = view["output"]["data"]["url"].as_str().unwrap();
    let template = app.saved("One", crate::template::page("one")).await;
    let at = |path: &str| format!("{}{path}", app.base);
    for url in [
        at("/health/live"),
        at("/health/ready"),
        at("/openapi.json"),
        at("/docs/index.html"),
        at("/problems/internal"),
        at("/v1/jobs?limit=1"),
        at(&format!("/v1/jobs/{job}")),
        at("/v1/templates"),
        at(&format!("/v1/templates/{template}")),
        at(&format!("/v1/templates/{template}/index-html")),
        output.to_owned(),
    ] {
        let token = |request: reqwest::RequestBuilder| {
            if url == output { request } else { request.bearer_auth(&app.token) }
        };
        let asked = token(app.client.head(&url)).send().await.unwrap();
        let read = token(app.client.get(&url)).send().await.unwrap();
        assert_eq!((asked.status(), read.status().as_u16()), (read.status(), 200), "{url}");
        let type_of = |answer: &reqwest::Response| answer.headers()["content-type"].clone();
        assert_eq!(type_of(&asked), type_of(&read), "{url}");
        // A client sees no body of a HEAD whatever is sent: on a connection of its own a second answer shows that none was.
        let (_, path) = url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).unwrap();
        let head = format!("HEAD /{path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n", app.token);
        let mut stream = TcpStream::connect(app.base.strip_prefix("http://").unwrap()).await.unwrap();
        let both = format!("{head}\r\n{head}Connection: close\r\n\r\n");
        stream.write_all(both.as_bytes()).await.unwrap();
        let mut answers = String::new();
        stream.read_to_string(&mut answers).await.unwrap();
        let heads: Vec<_> = answers.split_terminator("\r\n\r\n").collect();
        let is_head = |head: &&str| head.starts_with("HTTP/1.1 200 OK\r\n");
        assert!(heads.len() == 2 && heads.iter().all(is_head), "{url}: {answers}");
        let length = |head: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            line.and_then(|length| length.parse::<usize>().ok())
        };
        // Addresses and their times are made anew with each answer.
        let bytes = read.bytes().await.unwrap().len();
        assert!(
            length(heads[0]).is_none_or(|length| length.abs_diff(bytes) < 9),
            "{url}: {} of {bytes}",
            heads[0]
        );
    }
    let none = app.request(Method::HEAD, "/v1/jobs/none").send().await.unwrap();
    assert_eq!(none.status(), 404);
    let init = app.request(Method::HEAD, "/v1/templates/init").send().await.unwrap();
    assert_eq!((init.status().as_u16(), init.headers()["allow"].to_str().unwrap()), (405, "GET"));
    let wrong = app.request(Method::DELETE, "/v1/jobs").send().await.unwrap();
    assert_eq!((wrong.status().as_u16(), wrong.headers()["allow"].to_str().unwrap()), (405, "GET, HEAD"));
}

#[tokio::test]
async fn a_malformed_request_gets_a_problem() {
    let app = TestApp::with(&[("http.request_timeout_ms", "2000")]).await;
    let address = app.base.strip_prefix("http://").unwrap();
    // What comes too slowly may come again.
    let mut slow = TcpStream::connect(address).await.unwrap();
    slow.write_all(b"GET /health/live HTTP/1.1\r\nHost: ").await.unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{answer}");
    let problem: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!((&problem["code"], &problem["status"]), (&json!("request_timeout"), &json!(408)));
    assert!(problem["detail"].as_str().unwrap().contains("http.request_timeout_ms"), "{problem}");
    for (sent, part) in [
        ("GET / HTTP/1.1\nHost: x\n\n", "line feed alone"),
        ("GET / HTTP/1.1\r\nHost: x\nX: y\r\n\r\n", "line feed alone"),
        ("GET / HTTP/1.1\r\nHo st: x\r\n\r\n", "cannot be read as HTTP"),
        (
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            "how its body is delimited",
        ),
        ("nonsense\r\n\r\n", "cannot be read as HTTP"),
        ("m-search * HTTP/1.1\r\nHost: x\n\r\n", "line feed alone"),
        ("\r\nGET / HTTP/1.1\nHost: x\n\n", "line feed alone"),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(sent.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{sent:?}: {answer}");
        assert!(head.contains("content-type: application/problem+json"), "{sent:?}: {answer}");
        let problem: Value = serde_json::from_str(body).unwrap();
        assert_eq!(problem["code"], "bad_request");
        assert!(problem["detail"].as_str().unwrap().contains(part), "{sent:?}: {problem}");
    }
    // What comes behind other requests is looked at as well.
    for first in [
        "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /no HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(format!("{first}GET / HTTP/1.1\nHost: x\n\n").as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.contains("line feed alone"), "{answer}");
    }
}

#[tokio::test]
async fn faults_are_reported_once_with_the_possible_values() {
    let app = TestApp::start().await;
    for (body, faults) in [
        (
            json!({"type": "html", "target": "pdf", "formatOpts": 7}),
            json!(["/formatOpts must be an object, not a number"]),
        ),
        (
            json!({"type": "html", "target": "doc"}),
            json!(["/target 'doc' is not known; give one of jpg, png, pptx, html, pdf"]),
        ),
        (
            json!({"type": "html", "target": "pdf", "formatOpts": {"toPage": 1.5, "waitForTimeout": "5"}}),
            json!([
                "/formatOpts/toPage must be an integer, not 1.5",
                "/formatOpts/waitForTimeout must be an integer, not a string"
            ]),
        ),
    ] {
        let (status, problem) = app.post("/v1/documents/init", &body).await;
        let details = problem["errors"].as_array().unwrap().iter();
        let details: Vec<_> = details
            .map(|fault| {
                format!("{} {}", fault["pointer"].as_str().unwrap(), fault["detail"].as_str().unwrap())
            })
            .collect();
        let details: Vec<_> =
            details.into_iter().map(|message| message.replace(" (browser.wait_limit_ms)", "")).collect();
        assert_eq!((status, json!(details)), (422, faults));
    }
    let answer = app.request(Method::POST, "/v1/documents/init").body("{type: 1}").send().await.unwrap();
    let problem: Value = answer.json().await.unwrap();
    assert!(
        problem["detail"].as_str().unwrap().starts_with("The body is not valid JSON at line 1, column 2"),
        "{problem}"
    );
}

#[tokio::test]
async fn a_page_is_shown_to_another_reader_and_without_its_scripts() {
    let app = TestApp::start().await;
    let motion = "<style>p::after { content: ' lively' } @media (prefers-reduced-motion: reduce) { p::after { content: ' calm' } }</style>
        <p>It is</p>";
    let dark = "<script>document.body.append(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')</script>";
    let text = async |template: &str, options: Value| {
        let body = json!({"type": "html", "target": "pdf", "template": template, "formatOpts": options});
        let (status, made) = app.post("/v1/documents/immediate-render", &body).await;
        assert_eq!((status, &made["warnings"]), (200, &json!([])), "{made}");
        let document =
            app.client.get(made["url"].as_str().unwrap()).send().await.unwrap().bytes().await.unwrap();
        app.text_of(&document).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let calm = json!({"mediaFeatures": {"prefers-reduced-motion": "reduce"}});
    for _ in 0..2 {
        assert_eq!(text(motion, calm.clone()).await, "It is calm");
        assert_eq!(text(motion, json!({})).await, "It is lively", "the next page is another reader's");
    }
    let both = format!("{motion}<noscript>no script</noscript>{dark}");
    assert_eq!(text(&both, json!({})).await, "It is lively light");
    let features = json!([{"name": "prefers-color-scheme", "value": "dark"}]);
    assert_eq!(text(&both, json!({"mediaFeatures": features})).await, "It is lively dark");
    assert_eq!(text(&both, json!({"javascript": false})).await, "It is lively no script");
    // Nor in a frame that Chromium keeps apart from its page.
    let frame = "<p>It is</p><iframe sandbox='allow-scripts' srcdoc=\"<p>in a frame</p><script>document.write('ran')</script>\"></iframe>";
    assert_eq!(text(frame, json!({})).await, "It is in a frame ran");
    assert_eq!(text(frame, json!({"javascript": false})).await, "It is in a frame");
    let picture = async |template: &str, options: Value| {
        let body = json!({"type": "html", "target": "png", "template": template, "formatOpts": options});
        let (status, made) = app.post("/v1/documents/immediate-render", &body).await;
        assert_eq!(status, 200, "{made}");
        app.client.get(made["url"].as_str().unwrap()).send().await.unwrap().bytes().await.unwrap()
    };
    let red = "<p>1</p><script>document.body.style.background = 'red'</script><img src='data:,' onerror='document.body.remove()'>";
    let plain = picture("<p>1</p><img src='data:,'>", json!({})).await;
    assert!(picture(red, json!({"javascript": false})).await == plain, "no script ran");
    assert!(picture(red, json!({})).await != plain);
}

#[tokio::test]
async fn the_page_to_try_it_is_found_and_its_examples_run() {
    let app = TestApp::start().await;
    for path in ["/docs", "/docs/", "/v1/docs/"] {
        let page = app.client.get(format!("{}{path}", app.base)).send().await.unwrap();
        assert_eq!(page.status(), 200, "{path} leads to {}", page.url());
        let beside = page.url().join("swagger-ui.css").unwrap();
        assert_eq!(app.client.get(beside).send().await.unwrap().status(), 200, "{path}");
    }
    let (_, document) = app.get("/openapi.json").await;
    let example = |name: &str| document["components"]["schemas"][name]["example"].clone();
    let (status, made) = app.post("/v1/documents/immediate-render", &example("ImmediateRequest")).await;
    assert_eq!((status, &made["warnings"]), (200, &json!([])), "{made}");
    let job = app.init(example("InitRequest")).await;
    assert_eq!(app.put(&job.template_url.unwrap(), "<p><%= name %></p>").await, 200);
    let (status, ended) =
        app.post(&format!("/v1/documents/{}/render", job.id), &example("StartRequest")).await;
    assert_eq!((status, &ended["success"]), (200, &json!(true)), "{ended}");
    let template = app.unzipped(crate::template::page("one")).await;
    let path = format!("/v1/templates/{template}");
    assert_eq!(app.post(&format!("{path}/render-previews"), &example("PreviewsRequest")).await.0, 200);
    assert_eq!(app.post(&format!("{path}/index-html"), &example("IndexHtmlRequest")).await.0, 204);
}
