"""Model folders in the layouts that sentence-transformers writes, with small random weights: each
by its own name.
"""

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from peft import IA3Config, LoraConfig, PeftConfig
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize, Router, Transformer
from sentence_transformers.sentence_transformer.modules import (
    LayerNorm,
    Pooling,
    StaticEmbedding,
)
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    AutoConfig,
    AutoModel,
    AutoTokenizer,
    PreTrainedTokenizerFast,
    T5Config,
    T5EncoderModel,
)

from embedlab.data import tiny
from embedlab.encoders.random_encoder import build_tokenizer
from embedlab.encoders.weight_checks import silence_transformers
from tests.encoders.opening import change_json

WIDTH = 32
OLD_TYPES = "sentence_transformers.models"
SENTENCES = (
    "a man plays a guitar",
    "two dogs run",
    "a",
    "the woman in the red coat is cutting a very large onion in the kitchen with a knife",
    "dogs",
)

DECODERS: dict[str, dict[str, Any]] = {
    "qwen3": {"head_dim": 16, "num_key_value_heads": 1},
    "gemma3_text": {
        "head_dim": 16,
        "num_key_value_heads": 1,
        "use_bidirectional_attention": True,
        "query_pre_attn_scalar": 16,
    },
    "mistral": {"num_key_value_heads": 1},
    "llama": {"num_key_value_heads": 2},
}


def tokenizer() -> PreTrainedTokenizerFast:
    """The tokenizer of most layouts: whole words."""
    return build_tokenizer(tiny.vocabulary())


def byte_level() -> PreTrainedTokenizerFast:
    """RoBERTa's kind of tokenizer: pieces of bytes, so that no text holds an unknown token."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        SENTENCES,
        trainers.BpeTrainer(vocab_size=320, special_tokens=special, initial_alphabet=alphabet),
    )
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return _fast(made, special)


def unigram() -> PreTrainedTokenizerFast:
    """The kind of tokenizer of XLM-R and T5: pieces with their spaces, after Unicode's compatible
    normal form.
    """
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    made.train_from_iterator(
        SENTENCES, trainers.UnigramTrainer(vocab_size=60, special_tokens=special, unk_token="<unk>")
    )
    ends = [("<s>", 0), ("</s>", 2)]
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=ends
    )
    return _fast(made, special)


def typed() -> PreTrainedTokenizerFast:
    """A tokenizer that gives the first token of every text a type of its own, as Funnel's does."""
    made = tokenizer()
    ends = [(mark, made.convert_tokens_to_ids(mark)) for mark in ("[CLS]", "[SEP]")]
    made.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:1 $A:0 [SEP]:0", special_tokens=ends
    )
    made.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    return made


def _fast(made: Tokenizer, special: list[str]) -> PreTrainedTokenizerFast:
    names = ("cls_token", "pad_token", "sep_token", "unk_token", "mask_token")
    marks = dict(zip(names, special, strict=True))
    return PreTrainedTokenizerFast(
        tokenizer_object=made, model_max_length=128, bos_token="<s>", eos_token="</s>", **marks
    )


def write_backbone(folder: Path, architecture: str, kind: Any = AutoModel, **more: Any) -> None:
    """A random backbone of ARCHITECTURE, or a model with a head, with its tokenizer, in
    transformers' layout.
    """
    side = more.pop("padding_side", "right")
    words = more.pop("words", tokenizer)()
    # what is saved is what it was made with
    words.padding_side = words.init_kwargs["padding_side"] = side
    common = {"vocab_size": len(words), "pad_token_id": words.pad_token_id}
    torch.manual_seed(3)
    with silence_transformers():
        if architecture == "t5":
            sizes = {"d_model": WIDTH, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2}
            model: Any = T5EncoderModel(T5Config(**common, **sizes, **more))
        else:
            config = AutoConfig.for_model(
                architecture,
                **common,
                hidden_size=WIDTH,
                num_hidden_layers=2,
                num_attention_heads=2,
                intermediate_size=64,
                max_position_embeddings=more.pop("positions", 130),
                bos_token_id=words.cls_token_id,
                eos_token_id=words.sep_token_id,
                cls_token_id=words.cls_token_id,
                sep_token_id=words.sep_token_id,
                **more,
            )
            model = kind.from_config(config, trust_remote_code=False)
        for parameter in model.parameters():  # wide enough that pooling and layers matter
            if parameter.ndim > 1:
                torch.nn.init.normal_(parameter, std=0.2)
        model.save_pretrained(folder)
    words.save_pretrained(folder)


def transformer(folder: Path, architecture: str = "bert", **more: Any) -> Transformer:
    """A Transformer module over a random backbone."""
    source = folder.parent / f"{folder.name}-backbone"
    write_backbone(source, architecture, **more)
    with silence_transformers():
        return Transformer(str(source))


def layer_norm() -> LayerNorm:
    """A LayerNorm whose weights are not the identity."""
    made = LayerNorm(WIDTH)
    torch.nn.init.normal_(made.norm.weight)
    torch.nn.init.normal_(made.norm.bias)
    return made


def save(folder: Path, *modules: Any, **options: Any) -> Path:
    """Write a model of MODULES."""
    with silence_transformers():
        SentenceTransformer(
            modules=list(modules), device="cpu", trust_remote_code=False, **options
        ).save_pretrained(str(folder))
    return folder


def pooled(
    mode: str | tuple[str, ...], architecture: str = "bert", **more: Any
) -> Callable[[Path], Path]:
    """A transformer with one Pooling module."""
    return lambda folder: save(
        folder, transformer(folder, architecture, **more), Pooling(WIDTH, mode)
    )


def decoder(name: str, *, side: str) -> Callable[[Path], Path]:
    """A decoder pooled by its last token, normalised."""
    more = {**DECODERS[name], "padding_side": side}
    return lambda folder: save(
        folder, transformer(folder, name, **more), Pooling(WIDTH, "lasttoken"), Normalize()
    )


def dense(folder: Path) -> Path:
    """LaBSE's layout: [CLS], Dense with tanh, Normalize."""
    return save(folder, transformer(folder), Pooling(WIDTH, "cls"), Dense(WIDTH, 24), Normalize())


def t5_dense(folder: Path) -> Path:
    """Sentence-T5's layout: mean, Dense without bias and activation, Normalize."""
    head = Dense(WIDTH, 24, bias=False, activation_function=torch.nn.Identity())
    return save(folder, transformer(folder, "t5"), Pooling(WIDTH, "mean"), head, Normalize())


def gemma_dense(folder: Path) -> Path:
    """EmbeddingGemma's layout: mean, two Dense layers without activation, Normalize, prompts."""
    plain = {"bias": False, "activation_function": torch.nn.Identity()}
    first, second = Dense(WIDTH, 64, **plain), Dense(64, WIDTH, **plain)
    prompts = {"query": "two dogs | a: ", "document": "the woman: ", "STS": "a man: "}
    return save(
        folder,
        transformer(folder, "gemma3_text", **DECODERS["gemma3_text"]),
        Pooling(WIDTH, "mean"),
        first,
        second,
        Normalize(),
        prompts=prompts,
    )


def residual_dense(folder: Path) -> Path:
    """A Dense layer with an activation that has weights of its own, and a residual connection."""
    activation = torch.nn.PReLU(init=0.6)
    layer = Dense(WIDTH, 16, activation_function=activation, use_residual=True)
    return save(folder, transformer(folder), Pooling(WIDTH, "mean"), layer)


def normed(folder: Path) -> Path:
    """LayerNorm after pooling."""
    return save(folder, transformer(folder), Pooling(WIDTH, "mean"), layer_norm())


def default_prompt(folder: Path) -> Path:
    """A prompt before every text, left out of the mean (as INSTRUCTOR does)."""
    pooling = Pooling(WIDTH, "mean", include_prompt=False)
    return save(
        folder,
        transformer(folder),
        pooling,
        prompts={"query": "the woman in the kitchen: "},
        default_prompt_name="query",
    )


def truncated(folder: Path) -> Path:
    """Vectors cut to their first numbers (matryoshka), by the dot product."""
    return save(
        folder,
        transformer(folder),
        Pooling(WIDTH, "mean"),
        truncate_dim=12,
        similarity_fn_name="dot",
    )


def static(folder: Path) -> Path:
    """One vector a token, averaged."""
    words = tokenizer()
    torch.manual_seed(3)
    return save(folder, StaticEmbedding(words, torch.randn(len(words), WIDTH)), Normalize())


def routed(folder: Path) -> Path:
    """A router: queries by static vectors, documents by a transformer."""
    words = tokenizer()
    document = [transformer(folder), Pooling(WIDTH, "mean")]
    return save(
        folder,
        Router.for_query_document(
            query_modules=[StaticEmbedding(words, torch.randn(len(words), WIDTH))],
            document_modules=document,
        ),
    )


def adapted(architecture: str, change: PeftConfig, **more: Any) -> Callable[[Path], Path]:
    """An adapter on a base in another folder, as sentence-transformers writes it: without the
    base's weights.
    """

    def write(folder: Path) -> Path:
        module = transformer(folder, architecture, **more)
        torch.manual_seed(5)
        module.model.add_adapter(change)
        for name, parameter in module.model.named_parameters():  # an adapter begins as no change
            if ".default" in name:
                torch.nn.init.normal_(parameter, std=0.2)
        return save(folder, module, Pooling(WIDTH, "mean"))

    return write


def lora(*targets: str, **more: Any) -> LoraConfig:
    """A LoRA of rank 4 for the linear layers of these names."""
    return LoraConfig(r=4, lora_alpha=8, target_modules=list(targets), **more)


def bare_adapter(folder: Path) -> Path:
    """What peft alone writes, and a tokenizer beside it."""
    written = adapted("bert", lora("query", "value"))(folder.parent / f"{folder.name}-whole")
    folder.mkdir()
    for file in [*written.glob("adapter_*"), *written.glob("tokenizer*.json")]:
        shutil.copy(file, folder)
    return folder


def old_files(folder: Path) -> Path:
    """The files of version 2: module types of that time, one switch a pooling mode, the transformer
    in a folder of its own.
    """
    made = save(folder, transformer(folder), Pooling(WIDTH, "max"))
    own = made / "0_Transformer"
    own.mkdir()
    for file in [*made.glob("*.json"), *made.glob("*.safetensors")]:
        if file.name not in {"modules.json", "config_sentence_transformers.json"}:
            file.rename(own / file.name)
    modules = [
        {"idx": idx, "name": str(idx), "path": f"{idx}_{name}", "type": f"{OLD_TYPES}.{name}"}
        for idx, name in enumerate(("Transformer", "Pooling"))
    ]
    (made / "modules.json").write_text(json.dumps(modules))
    modes = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens")
    switches = {f"pooling_mode_{name}": name == "max_tokens" for name in modes}
    (made / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": WIDTH, **switches})
    )
    change_json(own / "sentence_bert_config.json", max_seq_length=20, do_lower_case=False)
    return made


def unlisted(folder: Path) -> Path:
    """A Pooling module that nothing lists."""
    made = pooled("cls")(folder)
    (made / "modules.json").unlink()
    return made


def longer(folder: Path) -> Path:
    """A stated longest input above the limit that the tokenizer states."""
    made = pooled("mean")(folder)
    change_json(made / "tokenizer_config.json", model_max_length=64)
    return change_json(made / "sentence_bert_config.json", max_seq_length=100)


LAYOUTS: dict[str, Callable[[Path], Path]] = {
    "mean": pooled("mean"),
    "a pooling that is not listed": unlisted,
    "several poolings": pooled(("cls", "max", "mean")),
    "mean-sqrt-length": pooled("mean_sqrt_len_tokens"),
    "weighted mean": pooled("weightedmean"),
    "weighted mean of a decoder": pooled("weightedmean", "llama", **DECODERS["llama"]),
    "ModernBERT": pooled("cls", "modernbert", global_attn_every_n_layers=2, local_attention=8),
    "long ModernBERT": pooled(
        "mean", "modernbert", positions=8192, global_attn_every_n_layers=2, local_attention=8
    ),
    "Qwen3, padded left": decoder("qwen3", side="left"),
    "Mistral, padded right": decoder("mistral", side="right"),
    "Llama, padded left": decoder("llama", side="left"),
    "EmbeddingGemma": gemma_dense,
    "LaBSE": dense,
    "sentence-T5": t5_dense,
    "residual Dense": residual_dense,
    "LayerNorm": normed,
    "default prompt outside the mean": default_prompt,
    "truncated": truncated,
    "static": static,
    "files of version 2": old_files,
    "LoRA on BERT": adapted("bert", lora("query", "value", "dense")),
    "LoRA on Qwen3": adapted(
        "qwen3", lora("q_proj", "down_proj", use_rslora=True), **DECODERS["qwen3"]
    ),
    "LoRA with whole modules": adapted(
        "bert", lora("query", modules_to_save=["embeddings.LayerNorm"])
    ),
    "IA3 on BERT": adapted(
        "bert", IA3Config(target_modules=["key", "value"], feedforward_modules=[])
    ),
    "LoRA alone, without modules": bare_adapter,
    "RoBERTa, byte-level": pooled("mean", "roberta", words=byte_level),
    "XLM-R, Unigram": pooled("cls", "xlm-roberta", words=unigram, type_vocab_size=1),
    "MPNet, Unigram": pooled("mean", "mpnet", words=unigram),
    "T5, Unigram": pooled("mean", "t5", words=unigram),
    "types in every text": pooled("mean", "bert", words=typed),
    "a longer input than the tokenizer states": longer,
}


def outputs(folder: Path, texts: Iterable[str], kind: Any = AutoModel) -> list[Any]:
    """What transformers alone gives of each of TEXTS alone, with the states of all layers."""
    options = {"return_tensors": "pt", "return_token_type_ids": False}
    with silence_transformers(), torch.inference_mode():
        words = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        model = kind.from_pretrained(folder, trust_remote_code=False).eval()
        return [model(**words(text, **options), output_hidden_states=True) for text in texts]


def theirs(
    folder: Path,
    texts: Iterable[str] = SENTENCES,
    *,
    model_kwargs: dict[str, Any] | None = None,
    **options: Any,
) -> NDArray[np.float32]:
    """Sentence-transformers' vectors of TEXTS, one at a time if not stated: nothing is padded."""
    with silence_transformers():
        model = SentenceTransformer(
            str(folder),
            device="cpu",
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs=model_kwargs,
        )
        return np.asarray(model.encode(list(texts), **{"batch_size": 1, **options}))
